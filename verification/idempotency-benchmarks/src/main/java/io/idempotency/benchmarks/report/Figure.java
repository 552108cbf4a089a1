package io.idempotency.benchmarks.report;

import java.util.Locale;

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

	/**
	 * A figure and what came out.
	 *
	 * @param figure the figure
	 * @param rate requests a second, measured ÷ base
	 * @param cost the server's processor time for a request, measured ÷ base
	 * @param bytes what the server allocates for a request beyond the base
	 * @param latency how long a request takes
	 * @param pairs how many pairs of turns count
	 * @param ignored how many do not
	 */
	record Measured(Figure figure, Spread rate, Spread cost, Spread bytes, Latency latency, int pairs, int ignored) {

		/**
		 * How long a request that is measured takes, in milliseconds: medians of the
		 * turns.
		 *
		 * @param median the median
		 * @param slow the 99th percentile
		 */
		record Latency(double median, double slow) {

			@Override
			public String toString() {
				return String.format(Locale.ROOT, "%.2f, %.2f", this.median, this.slow);
			}

		}

	}

}
