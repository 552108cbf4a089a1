package io.idempotency.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.IntSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Foresees when the store will be full of records that it must not forget. It warns when
 * such records use up four fifths of the bytes, and calculates the rate from the time
 * between two fifths and four fifths. It warns again only after they have fallen below
 * two fifths. Thread-safe.
 */
final class FillLevel {

	private final long max;

	private final IntSupplier records;

	private final InstantSource clock;

	private volatile @Nullable Instant halfway;

	private volatile boolean told;

	/**
	 * Creates the level of a store.
	 * @param max how many bytes its records may take
	 * @param records gives the number of records; it is asked, like the clock, only if
	 * there may be news
	 */
	FillLevel(long max, IntSupplier records, InstantSource clock) {
		this.max = max;
		this.records = records;
		this.clock = clock;
	}

	/**
	 * Checks the bytes of the records that cannot be dropped.
	 * @param kept the number of these bytes
	 * @return the news, {@code null} if there is none
	 */
	@Nullable String look(long kept) {
		if (kept < part(2)) {
			if (this.halfway != null) {
				forget();
			}
			return null;
		}
		if (this.halfway != null && (this.told || kept < part(4))) {
			return null;
		}
		return news(kept, this.clock.instant());
	}

	private long part(int fifths) {
		return this.max / 5 * fifths;
	}

	private synchronized void forget() {
		this.halfway = null;
		this.told = false;
	}

	private synchronized @Nullable String news(long kept, Instant now) {
		Instant since = this.halfway;
		if (since == null) {
			this.halfway = now;
			return null;
		}
		if (this.told) {
			return null;
		}
		this.told = true;
		double bytesPerMilli = (double) (kept - part(2)) / Math.max(1, Duration.between(since, now).toMillis());
		Duration rest = Duration.ofMillis((long) ((this.max - kept) / bytesPerMilli));
		return "The memory store is at " + kept * 100 / this.max + " % of its " + this.max
				+ " bytes with claims and tombstones within their retention, which it never forgets. It gains "
				+ Math.round(bytesPerMilli * 60_000 / kept * this.records.getAsInt())
				+ " keys a minute: it will be full in " + minutes(rest)
				+ ", and refuse every guarded call then. Raise 'idempotency.memory.max-size', shorten the retention or "
				+ "use a Redis or JDBC store";
	}

	private static String minutes(Duration rest) {
		return (rest.toMinutes() < 1) ? "less than a minute" : "about " + rest.toMinutes() + " minutes";
	}

}
