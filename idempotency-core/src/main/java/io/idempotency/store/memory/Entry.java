package io.idempotency.store.memory;

import java.util.Comparator;

/**
 * A record in its place: one instance for each version of a record, compared by identity.
 */
final class Entry {

	/** Earliest expiry first. */
	static final Comparator<Entry> BY_EXPIRY = Comparator.<Entry>comparingLong((entry) -> entry.state.expiresAt())
		.thenComparing((entry) -> entry.id);

	/** Earliest written first. */
	static final Comparator<Entry> BY_AGE = Comparator.comparingLong((entry) -> entry.ordinal);

	/**
	 * A record without its result: measured on a 64-bit JVM with compressed references.
	 */
	static final int OVERHEAD = 400;

	private final RecordId id;

	private final RecordState state;

	private final long ordinal;

	/**
	 * Creates the entry.
	 * @param id whose record it is
	 * @param state its state
	 * @param ordinal grows with every entry
	 */
	Entry(RecordId id, RecordState state, long ordinal) {
		this.id = id;
		this.state = state;
		this.ordinal = ordinal;
	}

	RecordId id() {
		return this.id;
	}

	RecordState state() {
		return this.state;
	}

	boolean isLive(Moment moment) {
		return moment.isBefore(this.state.expiresAt());
	}

	boolean hasResult() {
		return this.state.resultBytes() > 0;
	}

	long unusedTokenBytes() {
		return this.state.isUnusedToken() ? bytes() : 0;
	}

	long bytes() {
		return OVERHEAD + this.state.resultBytes();
	}

}
