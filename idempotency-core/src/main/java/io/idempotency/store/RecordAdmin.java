package io.idempotency.store;

import java.util.Optional;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a store for operators, which are not part of the protocol. A store
 * that supports them returns them from {@link IdempotencyStore#admin()}. The
 * {@code IdempotencyStoreContract} of {@code idempotency-test} tests them.
 * <p>
 * Thread-safe. Expired records count as absent. A method that fails throws the same
 * exceptions as the methods of {@link IdempotencyStore}. The operations must not slow
 * down guarded calls: they must not require another index, another key, or another step
 * of a claim.
 *
 * @since 0.1.0
 */
public interface RecordAdmin {

	/**
	 * Finds a record without changing it.
	 * @param key the key of the record
	 * @return the record with its label as the operation, empty if the record does not
	 * exist
	 */
	Optional<IdempotencyRecord> find(RecordKey key);

	/**
	 * Scans about {@code count} records of the store and returns the selected ones. It
	 * never reads results, and never scans many more records than {@code count}. A record
	 * that exists during the whole scan is returned at least once.
	 * @param selection which records to return
	 * @param cursor the end of the previous step, {@code null} for the first step
	 * @param count approximate number of records to scan, positive
	 * @return the selected records with their labels as operations, possibly empty, and
	 * the cursor of the next step
	 * @throws IllegalArgumentException if the cursor was not created by this store
	 */
	IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count);

	/**
	 * Removes a record in one atomic step, unless its call is in progress: RUNNING with a
	 * valid lease, or COMMITTED while its result may be attached.
	 * @param key the key of the record
	 * @param force whether to remove the record of a call in progress
	 * @return the result of the eviction
	 */
	Eviction evict(RecordKey key, boolean force);

	/** The result of an eviction. */
	enum Eviction {

		/** The record was removed. */
		EVICTED,

		/** The call of the record is in progress; nothing was changed. */
		RUNNING,

		/** The record does not exist. */
		ABSENT

	}

}
