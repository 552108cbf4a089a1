package io.idempotency.proofs.history;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/**
 * Does harm to nodes and the store: one fault of each kind, in any order, again and
 * again. Between two faults there is at least a lease without any, but for the node that
 * comes back.
 */
final class Faults {

	private final List<HistoryNode> nodes;

	private final HistoryStore store;

	private final Journal journal;

	private final Random chance;

	private final long lease;

	private final List<FaultKind> kinds;

	private final List<CompletableFuture<Void>> restarts = new ArrayList<>();

	private int number;

	Faults(List<HistoryNode> nodes, HistoryStore store, Journal journal, Random chance) {
		this.nodes = nodes;
		this.store = store;
		this.journal = journal;
		this.chance = chance;
		this.lease = store.lease().toMillis();
		this.kinds = new ArrayList<>(
				List.of(FaultKind.KILL, FaultKind.TERMINATE, FaultKind.STOP_BRIEFLY, FaultKind.STOP_LONG));
		this.kinds.addAll(store.faults());
		String wanted = System.getProperty("idempotency.history.faults", "");
		if (!wanted.isEmpty()) {
			this.kinds.retainAll(Arrays.stream(wanted.split(",")).map(FaultKind::of).toList());
		}
	}

	/**
	 * Does harm until it is late.
	 * @param end when that is, in nanoseconds
	 */
	void inflictUntil(long end) {
		List<FaultKind> left = new ArrayList<>();
		while (System.nanoTime() - end < 0) {
			if (left.isEmpty()) {
				left.addAll(this.kinds);
				Collections.shuffle(left, this.chance);
			}
			inflict(left.remove(0));
			Pause.millis(this.lease + this.chance.nextInt((int) this.lease));
		}
		this.restarts.forEach(CompletableFuture::join);
	}

	private void inflict(FaultKind kind) {
		this.restarts.removeIf((restart) -> restart.isDone() && !restart.isCompletedExceptionally());
		List<HistoryNode> ready = this.nodes.stream().filter((node) -> !node.isBusy()).toList();
		HistoryNode node = ready.get(this.chance.nextInt(ready.size()));
		if (kind == FaultKind.KILL || kind == FaultKind.TERMINATE) {
			if (ready.size() > 1) {
				end(node, kind);
			}
			return;
		}
		long millis = kind.isBrief() ? this.lease / 12 + this.chance.nextInt((int) this.lease / 6)
				: this.lease * 11 / 10 + this.chance.nextInt((int) this.lease / 2);
		String fault = begin(kind, isOfNode(kind) ? node.name() : Fault.ALL);
		switch (kind) {
			case STOP_BRIEFLY, STOP_LONG -> {
				node.process().pause();
				Pause.millis(millis);
				node.process().resume();
			}
			case FAIL_OVER -> this.store.inflict(kind, node.name(), 100 + this.chance.nextInt(700));
			default -> this.store.inflict(kind, node.name(), millis);
		}
		mended(fault);
		if (this.store.faults().contains(kind)) {
			this.store.mend();
		}
	}

	private static boolean isOfNode(FaultKind kind) {
		return switch (kind) {
			case SERVER_STOP_BRIEFLY, SERVER_STOP_LONG, SERVER_FULL_BRIEFLY, SERVER_FULL_LONG, SERVER_KILL, FAIL_OVER,
					MOVE ->
				false;
			default -> true;
		};
	}

	/** The next faults do not wait until the node is back. */
	private void end(HistoryNode node, FaultKind kind) {
		node.setBusy(true);
		String fault = begin(kind, node.name());
		if (kind == FaultKind.KILL) {
			node.process().kill();
			mended(fault);
		}
		this.restarts.add(CompletableFuture.runAsync(() -> {
			if (kind == FaultKind.TERMINATE) {
				terminate(node, fault);
			}
			node.start();
			node.setBusy(false);
		}, (task) -> new Thread(task, "restart-" + node.name()).start()));
	}

	private void terminate(HistoryNode node, String fault) {
		if (!node.terminate()) {
			mended(begin(FaultKind.KILL, node.name()));
		}
		mended(fault);
	}

	private synchronized String begin(FaultKind kind, String target) {
		this.number++;
		String fault = "f" + this.number;
		this.journal.write("fault", fault, kind, target);
		return fault;
	}

	private void mended(String fault) {
		this.journal.write("mended", fault);
	}

}
