package io.idempotency.store;

import java.time.Duration;
import java.time.Instant;

import io.idempotency.IdempotencyRecord;
import io.idempotency.key.Fingerprint;

import org.jspecify.annotations.Nullable;

/**
 * Converts records for operators. The converted record contains state and times, but no
 * body, fingerprint or claim id.
 */
public final class RecordView {

	private RecordView() {
	}

	/**
	 * Converts a record.
	 * @param label the label of the operation
	 * @param hash the hash of the key in hexadecimal digits
	 * @param record a live record
	 * @param moment the time at which the record was read
	 * @return the record for operators
	 */
	public static IdempotencyRecord of(String label, String hash, StoredRecord record, Moment moment) {
		boolean held = moment.isBefore(record.leaseUntil());
		RecordState state = record.state();
		boolean leased = held && state != RecordState.ONCE && state != RecordState.ORPHANED;
		return new IdempotencyRecord(label, hash, state(state, held), claimedAt(record),
				leased ? moment.until(record.leaseUntil()) : Duration.ZERO, moment.until(record.expiresAt()),
				(state == RecordState.ONCE) ? record.attempts() : 0, node(record), record.origin().traceId());
	}

	/**
	 * Creates a record from values that a store read, for stores with a different record
	 * format.
	 * @param state the state
	 * @param fencingToken the fencing token
	 * @param leaseUntil when the lease expires
	 * @param keptUntil when the retention expires
	 * @param attempts the number of claims of type {@link ClaimType#ONCE} with the key
	 * @param origin the origin of the claim
	 * @return the record for operators
	 */
	public static StoredRecord read(RecordState state, long fencingToken, long leaseUntil, long keptUntil,
			long attempts, ClaimOrigin origin) {
		return new StoredRecord(state, StoredRecord.NO_ID, fencingToken, Fingerprint.NONE, leaseUntil, keptUntil, 0,
				attempts, null, ResultKind.SUCCESS, origin);
	}

	private static IdempotencyRecord.State state(RecordState state, boolean held) {
		return switch (state) {
			case ISSUED -> IdempotencyRecord.State.ISSUED;
			case RUNNING, TAKEN_OVER -> held ? IdempotencyRecord.State.RUNNING : IdempotencyRecord.State.ABANDONED;
			case ORPHANED -> IdempotencyRecord.State.ABANDONED;
			case COMMITTED -> held ? IdempotencyRecord.State.COMMITTED : IdempotencyRecord.State.RESULT_NOT_STORED;
			case DONE -> IdempotencyRecord.State.DONE;
			case WITHOUT_RESULT -> IdempotencyRecord.State.RESULT_NOT_STORED;
			case ONCE -> IdempotencyRecord.State.ONCE;
			case ABSENT -> throw new IllegalArgumentException("An absent record has no view");
		};
	}

	private static @Nullable String node(StoredRecord record) {
		String node = record.origin().node();
		return node.isEmpty() ? null : node;
	}

	/**
	 * Returns when the key was claimed. The fencing token of a claim is the time of the
	 * claim.
	 */
	private static @Nullable Instant claimedAt(StoredRecord record) {
		return (record.state() == RecordState.ISSUED) ? null : Moment.toInstant(record.fencingToken());
	}

}
