package io.idempotency;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Looks up records, releases single keys, and erases the records of one caller.
 * <p>
 * Thread-safe. Every method queries the store without a lock, so guarded calls are not
 * blocked. If the store fails, the methods throw an
 * {@link IdempotencyStoreUnavailableException}. If the store does not support lookups,
 * they throw an {@link UnsupportedOperationException}.
 * <p>
 * Restrict access to these methods to operators and the application itself, because the
 * call of an evicted key can run again.
 *
 * @since 0.1.0
 */
public interface IdempotencyAdmin {

	/**
	 * Finds the record of a key.
	 * @param operation name of the operation
	 * @param caller the caller of the key
	 * @param key the parts of the key, as in {@link IdempotencyTemplate.Call#key}; one
	 * part for the key of a request
	 * @return the record, empty if the key is new
	 */
	Optional<IdempotencyRecord> find(String operation, IdempotencyCaller caller, Object... key);

	/**
	 * Finds a record by its id.
	 * @param operation name of the operation
	 * @param id the {@link IdempotencyRecord#id()}
	 * @return the record, empty if the record does not exist
	 */
	Optional<IdempotencyRecord> findById(String operation, String id);

	/**
	 * Lists the records of an operation, page by page, in no particular order. A record
	 * that exists from the first page to the last is listed; Redis may list it twice. A
	 * record that is created or removed meanwhile may be listed or not.
	 * <p>
	 * A store scans the records of all operations, because an index by operation would
	 * slow down every claim. One call scans a bounded number of records. A page may
	 * therefore have fewer records than the limit, or no records, before the end of the
	 * list.
	 * @param operation name of the operation
	 * @param cursor the cursor of the previous page, {@code null} for the first page
	 * @param limit approximate number of records of the page, 1 to 1000
	 * @return the page
	 * @throws IllegalArgumentException if the cursor was not created by this store
	 */
	IdempotencyRecordPage list(String operation, @Nullable String cursor, int limit);

	/**
	 * Removes one record, so that its key can be used again.
	 * <p>
	 * A record of a call in progress is not removed, because a duplicate would run
	 * concurrently with that call. With {@code force}, the record is removed anyway. The
	 * owner loses its claim, which it detects at its next renewal. The owner's result is
	 * stored if no other call claimed the key meanwhile; otherwise it is discarded. If
	 * the record of a token is removed, the token is unknown.
	 * @param operation name of the operation
	 * @param id the {@link IdempotencyRecord#id()}
	 * @param force whether to remove the record of a call in progress
	 * @return the numbers of removed and of remaining records
	 */
	IdempotencyEviction evict(String operation, String id, boolean force);

	/**
	 * Removes all records of one caller, for every operation and for issued tokens.
	 * Records that the caller creates meanwhile may remain. The call scans all records of
	 * the store, except with JDBC, where the records of a caller are adjacent. If the
	 * call fails, some records may be removed; it can be repeated.
	 * @param caller the caller
	 * @param force whether to remove records of calls in progress
	 * @return the numbers of removed and of remaining records
	 * @throws IllegalArgumentException if the caller has neither a name nor qualities,
	 * because such records do not belong to a specific caller
	 */
	IdempotencyEviction erase(IdempotencyCaller caller, boolean force);

	/**
	 * Returns the caller id, which all records of a caller contain.
	 * @param caller the caller
	 * @return the {@link IdempotencyRecord#callerId()}, which does not contain a name
	 */
	String callerId(IdempotencyCaller caller);

	/**
	 * Returns the admin of another store.
	 * @param name name of a bean of type {@link io.idempotency.store.IdempotencyStore}
	 * @return the admin
	 * @throws IllegalArgumentException if the bean does not exist
	 */
	IdempotencyAdmin store(String name);

}
