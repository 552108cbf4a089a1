package io.idempotency.store.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * Times of the table: whole microseconds since 1970, UTC. Numbers and not time stamps,
 * because they mean the same in every database, in every time zone of a session, and in
 * the hour that comes twice.
 */
final class Micros {

	/** Added to the date of today it is far from where any number overflows. */
	private static final Duration LONGEST = Duration.ofDays(36_500);

	private Micros() {
	}

	/** Rounded up: what is not zero must not become it; at most a hundred years. */
	static long of(Duration duration) {
		Duration bounded = (duration.compareTo(LONGEST) < 0) ? duration : LONGEST;
		return bounded.plusNanos(999).toNanos() / 1000;
	}

	static Duration toDuration(long micros) {
		return Duration.of(micros, ChronoUnit.MICROS);
	}

	static Instant toInstant(long micros) {
		return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
	}

}
