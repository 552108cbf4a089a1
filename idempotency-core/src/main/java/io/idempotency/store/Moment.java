package io.idempotency.store;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The time of a step, by the clock of the store: whole microseconds since 1970, UTC. The
 * time is a number and not a time stamp, because a number means the same in every
 * database, in every time zone of a session, and in the hour that comes twice when
 * daylight saving time ends.
 *
 * @param micros the moment
 * @param lastFence the last fencing token, either of the whole store or of the record
 * that was read
 */
public record Moment(long micros, AtomicLong lastFence) {

	/**
	 * The bound on durations, about 290 years: today's date plus this bound is far from
	 * an overflow.
	 */
	private static final Duration LONGEST = Duration.ofDays(106_000);

	/**
	 * Returns the beginning of time: a record that is made at this moment has durations
	 * as its times.
	 * @return the moment
	 */
	public static Moment origin() {
		return new Moment(0, new AtomicLong());
	}

	/**
	 * Converts a duration to microseconds. It rounds up, because a duration above zero
	 * must not become zero. The result is at most 290 years, so any long duration may
	 * stand for "for ever".
	 * @param duration the duration
	 * @return microseconds
	 */
	public static long micros(Duration duration) {
		Duration bounded = (duration.compareTo(LONGEST) < 0) ? duration : LONGEST;
		return bounded.getSeconds() * 1_000_000 + (bounded.getNano() + 999) / 1000;
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
	 * Draws a fencing token that is larger than the last one, even after the clock has
	 * stepped back.
	 * @return the fencing token
	 */
	public long nextFence() {
		return this.lastFence.accumulateAndGet(this.micros, (last, now) -> Math.max(last + 1, now));
	}

	/**
	 * Returns whether a deadline is later than this moment.
	 * @param deadline the deadline
	 * @return whether the deadline is later
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
