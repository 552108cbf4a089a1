package io.idempotency.store.memory;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.IntSupplier;

import org.jspecify.annotations.Nullable;

/**
 * Predicts when the store will be full of records that it cannot remove. It warns at four
 * fifths of the bytes, based on the rate since two fifths. It warns again only after the
 * bytes fell below two fifths. Thread-safe.
 */
final class FillLevelMonitor {

	private final long max;

	private final IntSupplier records;

	private final InstantSource clock;

	private volatile @Nullable Instant halfway;

	private volatile boolean reported;

	/**
	 * Creates a fill level.
	 * @param max the maximum number of bytes
	 * @param records the number of records, called like the clock only if needed
	 */
	FillLevelMonitor(long max, IntSupplier records, InstantSource clock) {
		this.max = max;
		this.records = records;
		this.clock = clock;
	}

	/**
	 * Checks the bytes of the records that the store cannot remove.
	 * @return the warning, {@code null} without a warning
	 */
	@Nullable String look(long kept) {
		if (kept < this.max / 5 * 2) {
			this.halfway = null;
			return null;
		}
		if (this.halfway != null && (this.reported || kept < this.max / 5 * 4)) {
			return null;
		}
		return warning(kept, this.clock.instant());
	}

	private synchronized @Nullable String warning(long kept, Instant now) {
		Instant since = this.halfway;
		if (since == null) {
			this.halfway = now;
			this.reported = false;
		}
		if (since == null || this.reported) {
			return null;
		}
		this.reported = true;
		double bytesPerMilli = (double) (kept - this.max / 5 * 2)
				/ Math.max(1, Duration.between(since, now).toMillis());
		long minutes = (long) ((this.max - kept) / bytesPerMilli / 60_000);
		return kept * 100 / this.max + " % of its " + this.max + " bytes hold claims and completed calls within "
				+ "their retention. At " + Math.round(bytesPerMilli * 60_000 / kept * this.records.getAsInt())
				+ " new keys a minute it is full in "
				+ ((minutes < 1) ? "less than a minute" : "about " + minutes + " minutes")
				+ " and then rejects new keys. " + MemoryIdempotencyStore.ADVICE + ".";
	}

}
