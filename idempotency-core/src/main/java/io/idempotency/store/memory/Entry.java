package io.idempotency.store.memory;

import io.idempotency.store.ResultKind;
import io.idempotency.store.record.Moment;
import io.idempotency.store.record.RecordId;
import io.idempotency.store.record.RecordState;
import io.idempotency.store.record.StoredRecord;

import org.jspecify.annotations.Nullable;

/**
 * One version of a record in the map. Each version has an instance of its own, and
 * instances are compared by identity.
 */
final class Entry {

	/**
	 * The bytes of a record without its result, measured on a 64-bit JVM with compressed
	 * references.
	 */
	static final int OVERHEAD = 336;

	/** The bytes of a result besides its content. */
	static final int RESULT_OVERHEAD = 48;

	/**
	 * The bytes of a span and its trace. The name of the node is one text for all
	 * records.
	 */
	private static final int TRACE_OVERHEAD = 160;

	private final RecordId id;

	/** The text that all entries of an operation share. */
	private final String operation;

	private final StoredRecord record;

	// Links of the queues, each guarded by the lock of the queue that the entry is in.

	@Nullable ExpiryQueue expiryQueue;

	@Nullable Entry expiresBefore;

	@Nullable Entry expiresAfter;

	@Nullable Entry completedBefore;

	@Nullable Entry completedAfter;

	/**
	 * Creates the entry.
	 * @param operation name of the operation
	 */
	Entry(RecordId id, String operation, StoredRecord record) {
		this.id = id;
		this.operation = operation;
		this.record = record;
	}

	RecordId id() {
		return this.id;
	}

	String operation() {
		return this.operation;
	}

	StoredRecord record() {
		return this.record;
	}

	boolean isLive(Moment moment) {
		return this.record.isLive(moment);
	}

	/**
	 * Returns the kind that decides when the record makes room, {@code null} if it never
	 * does before its time.
	 */
	@Nullable ResultKind turn() {
		return (this.record.isForgettable() || this.record.result() != null) ? this.record.kind() : null;
	}

	/**
	 * Returns the record that remains after this one has made room, {@code null} for
	 * none.
	 */
	@Nullable StoredRecord remainder() {
		return this.record.isForgettable() ? null : this.record.withoutResult();
	}

	/** Returns how many bytes the record frees when it makes room. */
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
		int trace = (this.record.origin().traceId() != null) ? TRACE_OVERHEAD : 0;
		return OVERHEAD + trace + resultBytes();
	}

}
