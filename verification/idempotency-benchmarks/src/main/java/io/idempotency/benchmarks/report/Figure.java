package io.idempotency.benchmarks.report;

/**
 * A ratio of two orders to the client, each a path and its keys.
 *
 * @param name what it says
 * @param measured what is measured
 * @param base what it is measured by
 * @param goal what the ratio shall be, {@code null} if nobody has said it
 * @param bytes how many bytes more may be allocated, {@code null} likewise
 * @param close whether the two are so near to each other that it takes many pairs
 */
record Figure(String name, String measured, String base, Goal goal, Goal bytes, boolean close) {

	static Figure of(String name, String measured, String base) {
		return new Figure(name, measured, base, null, null, false);
	}

	Figure atLeast(String what, double bound) {
		return new Figure(this.name, this.measured, this.base, Goal.atLeast(what, bound), this.bytes, this.close);
	}

	Figure bytesAtMost(String what, double bound) {
		return new Figure(this.name, this.measured, this.base, this.goal, Goal.atMost(what, bound, " bytes"),
				this.close);
	}

	/** With more pairs. */
	Figure closely() {
		return new Figure(this.name, this.measured, this.base, this.goal, this.bytes, true);
	}

}
