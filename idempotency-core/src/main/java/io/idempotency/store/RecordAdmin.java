package io.idempotency.store;

import java.util.Optional;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a store that serve operators and are no part of the protocol. A store
 * that has them returns them from {@link IdempotencyStore#admin()}. The published
 * {@code IdempotencyStoreContract} of {@code idempotency-test} tests them.
 * <p>
 * Thread-safe. Expired records count as absent. A method that fails throws as those of
 * {@link IdempotencyStore} do. The offer must cost guarded calls nothing: no further
 * index, no second key, no further step of a claim.
 *
 * @since 0.1.0
 */
public interface RecordAdmin {

	/**
	 * Finds a record and changes nothing.
	 * @param key where it is
	 * @return the record with its label as the operation, empty if there is none
	 */
	Optional<IdempotencyRecord> find(RecordKey key);

	/**
	 * Looks at about {@code count} records of the store, and returns those that are
	 * selected. It never reads a result, and never looks at many more records than asked.
	 * A record that is there during the whole walk is returned at least once.
	 * @param selection which records to return
	 * @param cursor where the step before ended, {@code null} for the first step
	 * @param count how many records to look at, positive
	 * @return the selected records with their labels as operations, perhaps none, and
	 * where the next step begins
	 * @throws IllegalArgumentException if the cursor is none of this store
	 */
	IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count);

	/**
	 * Removes a record in one atomic step, unless a live call holds it: RUNNING with a
	 * live lease, or COMMITTED while its result may be attached.
	 * @param key where it is
	 * @param force whether a record that a live call holds is removed too
	 * @return what became of the record
	 */
	Eviction evict(RecordKey key, boolean force);

	/** The outcome of the removal of a record. */
	enum Eviction {

		/** The record was removed. */
		EVICTED,

		/** A live call holds the record, and nothing was changed. */
		RUNNING,

		/** There is no record. */
		ABSENT

	}

}
