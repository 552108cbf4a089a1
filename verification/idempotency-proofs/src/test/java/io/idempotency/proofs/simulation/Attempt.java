package io.idempotency.proofs.simulation;

import java.util.HashMap;
import java.util.Map;

/** One time that a call reaches a node, and what is known of it. */
final class Attempt {

	final Call call;

	final int number;

	final Node node;

	State state = State.NONE;

	/** Whether the engine has said that the call owns its key. */
	boolean guarded;

	/** When the claim or the renewal was sent that the store has accepted last. */
	long leaseFrom = -1;

	/** When this attempt has last tried to renew its claim. */
	long lastBeat = -1;

	/** When a message of its beats was last lost, late or repeated. */
	long beatDisturbed = -1;

	boolean disturbed;

	boolean outOfSight;

	/** Whether the store has ever given it the key. */
	boolean granted;

	/** Whether its node knows that its claim is another's. */
	boolean lost;

	/** Whether another attempt took its claim over. */
	boolean takenFrom;

	/** Whether the store has lost its record. */
	boolean recordLost;

	boolean releaseSent;

	boolean releaseArrived;

	boolean completionSent;

	boolean completionAnswered;

	boolean completionAccepted;

	long completedAt = Long.MAX_VALUE;

	private final Map<String, Integer> sent = new HashMap<>();

	Attempt(Call call, int number, Node node) {
		this.call = call;
		this.number = number;
		this.node = node;
	}

	String id() {
		return this.call.number() + "." + this.number;
	}

	String value() {
		return this.call.key().options().operation() + " variant " + this.call.variant() + " run " + id();
	}

	int next(String verb) {
		return this.sent.merge(verb, 1, Integer::sum);
	}

	@Override
	public String toString() {
		return "attempt " + id() + " on node " + this.node.number();
	}

	/** How far the work has come. */
	enum State {

		NONE, RUNNING, SUCCEEDED, FAILED

	}

}
