package io.idempotency.proofs.history;

/**
 * Something that went wrong.
 *
 * @param kind what
 * @param target the node that suffers from it, or {@link #ALL}
 * @param from when it began, in microseconds
 * @param to when it was over
 */
record Fault(FaultKind kind, String target, long from, long to) {

	static final String ALL = "all";

	boolean hits(String node) {
		return this.target.equals(ALL) || this.target.equals(node);
	}

	boolean overlaps(long begin, long end) {
		return this.from <= end && this.to >= begin;
	}

}
