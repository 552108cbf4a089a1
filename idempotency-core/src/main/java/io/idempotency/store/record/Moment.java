package io.idempotency.store.record;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * When a step happens, by the clock of the store: whole microseconds since 1970, UTC. A
 * number and not a time stamp, because it means the same in every database, in every time
 * zone of a session, and in the hour that comes twice.
 *
 * @param micros the moment
 * @param lastFence the last fence that was given: in the whole store, or for the record
 * that was read
 */
public record Moment(long micros, AtomicLong lastFence) {

	/** Added to the date of today it is far from where any number overflows. */
	private static final Duration LONGEST = Duration.ofDays(106_000);

	/**
	 * The beginning of time: records that are made then have durations for their times.
	 * @return the moment
	 */
	public static Moment origin() {
		return new Moment(0, new AtomicLong());
	}

	/**
	 * A duration as it is added to moments. Rounded up: what is not zero must not become
	 * it; at most 290 years, so that "for ever" may be said with any duration.
	 * @param duration the duration
	 * @return microseconds
	 */
	public static long micros(Duration duration) {
		Duration bounded = (duration.compareTo(LONGEST) < 0) ? duration : LONGEST;
		return bounded.plusNanos(999).toNanos() / 1000;
	}

	/**
	 * Makes an instant of a moment.
	 * @param micros the moment
	 * @return the instant
	 */
	public static Instant toInstant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	/**
	 * Draws a fence: larger than the last one, also after the clock has stepped back.
	 * @return the fence
	 */
	public long nextFence() {
		return this.lastFence.accumulateAndGet(this.micros, (last, now) -> Math.max(last + 1, now));
	}

	/**
	 * Whether a deadline is not over.
	 * @param deadline the deadline
	 * @return whether it is later
	 */
	public boolean isBefore(long deadline) {
		return this.micros < deadline;
	}

	long plus(Duration duration) {
		return this.micros + micros(duration);
	}

	Duration until(long deadline) {
		return Duration.of(deadline - this.micros, ChronoUnit.MICROS);
	}

}
