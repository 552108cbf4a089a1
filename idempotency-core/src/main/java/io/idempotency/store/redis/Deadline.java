package io.idempotency.store.redis;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Until when a call of the store may last, by this JVM's own clock.
 *
 * @param nanos the moment, as {@link System#nanoTime()} counts
 */
record Deadline(long nanos) {

	/** A sum that cannot overflow, and longer than any call. */
	private static final Duration LONGEST = Duration.ofDays(3650);

	static Deadline in(Duration timeout) {
		return new Deadline(System.nanoTime()).plus(timeout);
	}

	Deadline plus(Duration more) {
		return new Deadline(this.nanos + TimeUnit.NANOSECONDS.convert((more.compareTo(LONGEST) < 0) ? more : LONGEST));
	}

	boolean isOver() {
		return this.nanos - System.nanoTime() <= 0;
	}

	/** Nanoseconds that are left, at least one: to clients, zero is "for ever". */
	long rest() {
		return Math.max(1, this.nanos - System.nanoTime());
	}

}
