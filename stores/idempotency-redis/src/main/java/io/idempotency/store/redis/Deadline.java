package io.idempotency.store.redis;

import java.time.Duration;

/**
 * The moment at which a call of the store must end, by the clock of this JVM.
 *
 * @param nanos the moment, as {@link System#nanoTime()} counts
 */
record Deadline(long nanos) {

	/** Longer than any call, and too short for an overflow. */
	private static final Duration LONGEST = Duration.ofDays(3650);

	static Deadline in(Duration timeout) {
		Duration bounded = (timeout.compareTo(LONGEST) < 0) ? timeout : LONGEST;
		return new Deadline(System.nanoTime() + bounded.toNanos());
	}

	boolean isOver() {
		return this.nanos - System.nanoTime() <= 0;
	}

	/**
	 * Returns the nanoseconds that are left, at least one, because zero means "for ever"
	 * to clients.
	 */
	long rest() {
		return Math.max(1, this.nanos - System.nanoTime());
	}

}
