package io.idempotency.proofs.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Which faults allow that an owner loses its claim. A dead owner loses it. One that lives
 * renews it every third of the lease: it may lose it only if its process stood still, or
 * could not reach the store, for at least a third of a lease in all, and not long ago.
 */
final class Excuses {

	private final long lease;

	private final List<Fault> faults;

	Excuses(History history) {
		this.lease = history.lease();
		this.faults = history.faults();
	}

	/**
	 * Why an owner may have lost its claim.
	 * @param owner its run
	 * @param until when the claim was somebody else's
	 * @return the fault, or {@code null} if the owner should have it still
	 */
	@Nullable FaultKind loss(Run owner, long until) {
		for (Fault fault : this.faults) {
			if (kills(fault, owner) && fault.overlaps(owner.start(), Math.min(until, storedBy(owner)))) {
				return fault.kind();
			}
		}
		List<Fault> recent = during(owner.node(), Math.max(owner.start() - this.lease, until - 2 * this.lease), until);
		if (length(recent, until - 2 * this.lease, until) < this.lease / 3) {
			return null;
		}
		return recent.stream().max(Comparator.comparingLong((fault) -> fault.to() - fault.from())).orElseThrow().kind();
	}

	/** When the result of a run is in the store, if the store is not away for long. */
	private long storedBy(Run owner) {
		return (owner.ending() == Run.CallOutcome.DONE) ? owner.end() + 2 * this.lease : Run.NEVER;
	}

	/** A process that is told to end ends its runs first, unless they take too long. */
	private static boolean kills(Fault fault, Run owner) {
		return fault.hits(owner.node()) && (fault.kind() == FaultKind.KILL
				|| fault.kind() == FaultKind.TERMINATE && owner.ending() == Run.CallOutcome.NONE);
	}

	/**
	 * Whether a process stood still for so long, after it had seen that its claim was
	 * good and before it began, that the claim may be somebody else's. That takes
	 * microseconds and cannot be helped: a fencing token is for this.
	 */
	boolean beginsLate(Run run) {
		return this.faults.stream()
			.anyMatch((fault) -> (fault.kind() == FaultKind.STOP_LONG || fault.kind() == FaultKind.STALL)
					&& fault.hits(run.node()) && fault.to() - fault.from() > this.lease / 2
					&& fault.overlaps(run.start() - this.lease / 10, run.start()));
	}

	/** Whether nothing was wrong between a node and its store. */
	boolean isCalm(String node, long from, long to) {
		return during(node, from, to).isEmpty();
	}

	/** Whether nothing at all was wrong, and had not been for a while. */
	boolean isQuiet(long from, long to) {
		return this.faults.stream().noneMatch((fault) -> fault.overlaps(from - 3 * this.lease, to));
	}

	/** Whether a node was told to end. */
	boolean isEnding(long from, long to) {
		return this.faults.stream()
			.anyMatch((fault) -> fault.kind() == FaultKind.TERMINATE && fault.overlaps(from, to));
	}

	/** Whether the server was killed. */
	boolean hasCrashed(long from, long to) {
		return this.faults.stream()
			.anyMatch((fault) -> fault.kind() == FaultKind.SERVER_KILL && fault.overlaps(from, to));
	}

	/** Whether the store may be another one than before. */
	boolean hasFailedOver(long from, long to) {
		return this.faults.stream()
			.anyMatch((fault) -> fault.kind() == FaultKind.FAIL_OVER && fault.overlaps(from, to));
	}

	private List<Fault> during(String node, long from, long to) {
		return this.faults.stream()
			.filter((fault) -> fault.hits(node) && fault.overlaps(from, to))
			.filter((fault) -> fault.kind() != FaultKind.KILL && fault.kind() != FaultKind.TERMINATE)
			.toList();
	}

	/** How long at least one of them was there. */
	private static long length(List<Fault> faults, long from, long to) {
		List<Fault> sorted = new ArrayList<>(faults);
		sorted.sort(Comparator.comparingLong(Fault::from));
		long length = 0;
		long covered = from;
		for (Fault fault : sorted) {
			long begin = Math.max(covered, fault.from());
			long end = Math.min(to, fault.to());
			length += Math.max(0, end - begin);
			covered = Math.max(covered, end);
		}
		return length;
	}

}
