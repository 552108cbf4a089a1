package io.idempotency.proofs.history;

import java.util.Locale;

/**
 * What is done to nodes, lines and servers. Brief is up to a quarter of the lease, which
 * a live owner must outlast; long is more than a whole lease, which it need not.
 */
enum FaultKind {

	KILL("a node is killed (SIGKILL) and started again"),

	TERMINATE("a node is told to end (SIGTERM) and started again"),

	STOP_BRIEFLY("a node stands still (SIGSTOP), briefly"),

	STOP_LONG("a node stands still, longer than a lease"),

	DROP("all connections of a node to the server are dropped"),

	CUT_BRIEFLY("a node cannot reach the server, briefly"),

	CUT_LONG("a node cannot reach the server, longer than a lease"),

	LOSE_REPLIES("the server hears a node and the node does not hear the server, briefly"),

	DELAY("what a node and the server say is held up, briefly"),

	SERVER_STOP_BRIEFLY("the server stands still (SIGSTOP), briefly"),

	SERVER_STOP_LONG("the server stands still, longer than a lease"),

	SERVER_KILL("the server is killed (SIGKILL) and started again"),

	SERVER_FULL_BRIEFLY("the server has no memory left for writes, briefly"),

	SERVER_FULL_LONG("the server has no memory left for writes, longer than a lease"),

	FAIL_OVER("the replica loses its master, then the master is killed and the replica promoted"),

	MOVE("slots of the cluster move from one master to the next"),

	/** Not inflicted: the machine was busy elsewhere. */
	STALL("a process got no time from the machine");

	private final String text;

	FaultKind(String text) {
		this.text = text;
	}

	String text() {
		return this.text;
	}

	boolean isBrief() {
		return switch (this) {
			case STOP_BRIEFLY, DROP, CUT_BRIEFLY, LOSE_REPLIES, DELAY, SERVER_STOP_BRIEFLY, SERVER_FULL_BRIEFLY, MOVE ->
				true;
			default -> false;
		};
	}

	static FaultKind of(String word) {
		return valueOf(word.toUpperCase(Locale.ROOT).replace('-', '_'));
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
