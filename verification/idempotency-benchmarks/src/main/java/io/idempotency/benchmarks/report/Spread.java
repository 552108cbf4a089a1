package io.idempotency.benchmarks.report;

import java.util.Collection;
import java.util.List;
import java.util.Locale;

/**
 * The median of some values, with the least and the most of them.
 *
 * @param median the value in the middle
 * @param least the least
 * @param most the most
 */
record Spread(double median, double least, double most) {

	static Spread of(Collection<Double> values) {
		List<Double> sorted = values.stream().sorted().toList();
		return new Spread(sorted.get(sorted.size() / 2), sorted.get(0), sorted.get(sorted.size() - 1));
	}

	/** A value that was measured once. */
	static Spread only(double value) {
		return new Spread(value, value, value);
	}

	/** As a ratio. */
	@Override
	public String toString() {
		return String.format(Locale.ROOT, "%.2f (%.2f to %.2f)", this.median, this.least, this.most);
	}

	/** As a number without a fraction. */
	String whole() {
		return String.format(Locale.ROOT, "%,.0f (%,.0f to %,.0f)", this.median, this.least, this.most);
	}

}
