package io.idempotency.benchmarks.report;

import java.math.BigDecimal;
import java.math.RoundingMode;

/**
 * What a figure shall be.
 *
 * @param name the name of what is measured
 * @param bound the bound that it may touch
 * @param least whether the figure is at least the bound, and not at most
 * @param unit what follows the number
 */
record Goal(String name, double bound, boolean least, String unit) {

	static Goal atLeast(String name, double bound) {
		return new Goal(name, bound, true, "");
	}

	static Goal atMost(String name, double bound, String unit) {
		return new Goal(name, bound, false, unit);
	}

	boolean isMetBy(double value) {
		return this.least ? value >= this.bound : value <= this.bound;
	}

	/** Prints a value so that rounding brings it no nearer to the goal. */
	String show(double value) {
		int digits = (Math.abs(value) < 10) ? 3 : 1;
		return new BigDecimal(value).setScale(digits, this.least ? RoundingMode.FLOOR : RoundingMode.CEILING)
			.toPlainString() + this.unit;
	}

	@Override
	public String toString() {
		return (this.least ? "≥ " : "≤ ") + BigDecimal.valueOf(this.bound).stripTrailingZeros().toPlainString()
				+ this.unit;
	}

}
