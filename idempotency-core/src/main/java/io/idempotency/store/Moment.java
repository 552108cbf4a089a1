package io.idempotency.store;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The time of a step, by the clock of the store: whole microseconds since 1970, UTC. The
 * time is a number and not a timestamp, because a number does not depend on the database,
 * the time zone of a session, and daylight saving time.
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
	 * Returns the time zero. The times of a record that is created at this moment are
	 * durations.
	 * @return the moment
	 */
	public static Moment origin() {
		return new Moment(0, new AtomicLong());
	}

	/**
	 * Converts a duration to microseconds and rounds up, because a positive duration must
	 * not become zero. The result is at most 290 years, so any longer duration is
	 * equivalent to "forever".
	 * @param duration the duration
	 * @return microseconds
	 */
	public static long micros(Duration duration) {
		Duration bounded = (duration.compareTo(LONGEST) < 0) ? duration : LONGEST;
		return bounded.getSeconds() * 1_000_000 + (bounded.getNano() + 999) / 1000;
	}

	/**
	 * Converts a moment to an instant.
	 * @param micros the moment
	 * @return the instant
	 */
	public static Instant toInstant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

	/**
	 * Creates a fencing token that is larger than the last one, even after the clock
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
