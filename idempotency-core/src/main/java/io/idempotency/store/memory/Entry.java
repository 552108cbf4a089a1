package io.idempotency.store.memory;

import java.util.Comparator;

import io.idempotency.store.ResultKind;
import io.idempotency.store.record.Moment;
import io.idempotency.store.record.RecordId;
import io.idempotency.store.record.RecordState;
import io.idempotency.store.record.StoredRecord;

import org.jspecify.annotations.Nullable;

/**
 * A record in its place: one instance for each version of a record, compared by identity.
 */
final class Entry {

	/** Earliest expiry first. */
	static final Comparator<Entry> BY_EXPIRY = Comparator.<Entry>comparingLong((entry) -> entry.expiresAt)
		.thenComparing((entry) -> entry.id);

	/** Earliest written first. */
	static final Comparator<Entry> BY_AGE = Comparator.comparingLong((entry) -> entry.ordinal);

	/**
	 * A record without its result: measured on a 64-bit JVM with compressed references.
	 */
	static final int OVERHEAD = 400;

	/** The result and its place in the order of completion. */
	private static final int RESULT_OVERHEAD = 80;

	private final RecordId id;

	private final StoredRecord record;

	private final long ordinal;

	/** Beside the record, because a walk through an order compares nothing else. */
	private final long expiresAt;

	/**
	 * Creates the entry.
	 * @param id whose record it is
	 * @param record the record
	 * @param ordinal grows with every entry
	 */
	Entry(RecordId id, StoredRecord record, long ordinal) {
		this.id = id;
		this.record = record;
		this.ordinal = ordinal;
		this.expiresAt = record.expiresAt();
	}

	RecordId id() {
		return this.id;
	}

	StoredRecord record() {
		return this.record;
	}

	boolean isLive(Moment moment) {
		return this.record.isLive(moment);
	}

	/** When it goes to make room, {@code null} if it never does before its time. */
	@Nullable ResultKind turn() {
		return (this.record.isForgettable() || this.record.result() != null) ? this.record.kind() : null;
	}

	/** What is left of it when it has made room, {@code null} for nothing. */
	@Nullable StoredRecord remainder() {
		return this.record.isForgettable() ? null : this.record.withoutResult();
	}

	/** How much room it makes. */
	long roomBytes() {
		return this.record.isForgettable() ? bytes() : resultBytes();
	}

	private long resultBytes() {
		return (this.record.result() != null) ? RESULT_OVERHEAD + this.record.result().bytes().length : 0;
	}

	long unusedTokenBytes() {
		return (this.record.state() == RecordState.ISSUED) ? bytes() : 0;
	}

	long bytes() {
		return OVERHEAD + resultBytes();
	}

}
