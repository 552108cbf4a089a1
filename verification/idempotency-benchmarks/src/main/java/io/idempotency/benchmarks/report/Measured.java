package io.idempotency.benchmarks.report;

import java.util.Locale;

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
	 * How long a request that is measured takes, in milliseconds: medians of the turns.
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
