package io.idempotency.proofs.history;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.it.faults.BadLine;

/** One server, and a line of its own for each node. */
abstract class StoreOnLines implements HistoryStore {

	private final Map<String, BadLine> lines = new ConcurrentHashMap<>();

	abstract int serverPort();

	abstract void pause();

	abstract void resume();

	abstract void kill();

	abstract void restart();

	/**
	 * Gives the place where the server is for a node.
	 * @param node the node
	 * @return the port
	 */
	final int portFor(String node) {
		return this.lines.computeIfAbsent(node, (name) -> new BadLine(serverPort())).port();
	}

	@Override
	public Duration lease() {
		return Duration.ofSeconds(3);
	}

	@Override
	public List<FaultKind> faults() {
		return List.of(FaultKind.DROP, FaultKind.CUT_BRIEFLY, FaultKind.CUT_LONG, FaultKind.LOSE_REPLIES,
				FaultKind.DELAY, FaultKind.SERVER_STOP_BRIEFLY, FaultKind.SERVER_STOP_LONG, FaultKind.SERVER_KILL);
	}

	@Override
	public void inflict(FaultKind fault, String node, long millis) {
		BadLine line = this.lines.get(node);
		if (line == null) {
			throw new IllegalArgumentException(node);
		}
		switch (fault) {
			case DROP -> line.reconnect();
			case CUT_BRIEFLY, CUT_LONG -> {
				line.cut();
				Pause.millis(millis);
				line.mend();
			}
			case LOSE_REPLIES -> {
				line.loseReplies();
				Pause.millis(millis);
				line.reconnect();
			}
			case DELAY -> {
				line.holdUp();
				Pause.millis(millis);
				line.letGo();
			}
			case SERVER_STOP_BRIEFLY, SERVER_STOP_LONG -> {
				pause();
				Pause.millis(millis);
				resume();
			}
			case SERVER_KILL -> {
				kill();
				restart();
			}
			default -> throw new IllegalArgumentException(fault.toString());
		}
	}

	@Override
	public void close() {
		this.lines.values().forEach(BadLine::close);
	}

}
