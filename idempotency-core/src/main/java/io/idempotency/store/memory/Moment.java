package io.idempotency.store.memory;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * When a step happens, in microseconds of the store's clock. All arithmetic saturates, so
 * that "for ever" may be said with any duration.
 *
 * @param micros the moment
 * @param lastFence the last fence that was given to any claim
 */
record Moment(long micros, AtomicLong lastFence) {

	static Moment now(Clock clock, AtomicLong lastFence) {
		Instant instant = clock.instant();
		long micros = TimeUnit.SECONDS.toMicros(instant.getEpochSecond())
				+ TimeUnit.NANOSECONDS.toMicros(instant.getNano());
		return new Moment(micros, lastFence);
	}

	/**
	 * Larger than every fence before it, also for a key whose record was gone in between
	 * and after the clock has stepped back.
	 */
	long nextFence() {
		return this.lastFence.accumulateAndGet(this.micros, (last, now) -> Math.max(last + 1, now));
	}

	boolean isBefore(long deadline) {
		return this.micros < deadline;
	}

	long plus(Duration duration) {
		return plus(this.micros, duration);
	}

	Duration until(long deadline) {
		return Duration.of(deadline - this.micros, ChronoUnit.MICROS);
	}

	static long plus(long micros, Duration duration) {
		long sum = micros + TimeUnit.MICROSECONDS.convert(duration);
		return (sum < micros) ? Long.MAX_VALUE : sum;
	}

	static Instant toInstant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

}
