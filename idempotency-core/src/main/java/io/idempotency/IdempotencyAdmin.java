package io.idempotency;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * Looks records up, frees single keys, and erases the records of one caller.
 * <p>
 * Thread-safe. Every method asks the store and needs no lock, so guarded calls go on
 * meanwhile. A store that fails throws an {@link IdempotencyStoreUnavailableException}; a
 * store that cannot be looked up throws an {@link UnsupportedOperationException}.
 * <p>
 * Only operators and the application itself may reach these methods, because the call of
 * an evicted key can run again.
 *
 * @since 0.1.0
 */
public interface IdempotencyAdmin {

	/**
	 * Finds the record of a key.
	 * @param operation name of the operation
	 * @param caller whose key it is
	 * @param key the parts of the key, as {@link IdempotencyTemplate.Call#key} takes
	 * them: one part for the key of a request
	 * @return the record, empty if the key is new
	 */
	Optional<IdempotencyRecord> find(String operation, IdempotencyCaller caller, Object... key);

	/**
	 * Finds a record by its id.
	 * @param operation name of the operation
	 * @param id the {@link IdempotencyRecord#id()}
	 * @return the record, empty if there is none
	 */
	Optional<IdempotencyRecord> findById(String operation, String id);

	/**
	 * Lists the records of an operation, page by page. Records come in no particular
	 * order. A record that is there from the first page to the last is listed, in Redis
	 * perhaps twice; a record that comes or goes meanwhile may be listed or not.
	 * <p>
	 * A store looks through the records of all operations, because an index by operation
	 * would slow down every claim. So one call looks at a bounded number of records, and
	 * a page may have fewer records than asked for, or none, long before the end of the
	 * list.
	 * @param operation name of the operation
	 * @param cursor the cursor of the page before, {@code null} for the first page
	 * @param limit about how many records the page has, 1 to 1000
	 * @return the page
	 * @throws IllegalArgumentException if the cursor is none of this store
	 */
	IdempotencyRecordPage list(String operation, @Nullable String cursor, int limit);

	/**
	 * Removes one record, so that its key is new.
	 * <p>
	 * A record that a live call holds is left, because a duplicate would run beside that
	 * call. With {@code force} it is removed all the same. The owner learns at its next
	 * renewal that it has lost its claim. The owner's result is kept if nobody has
	 * claimed the key meanwhile, and thrown away otherwise. A token whose record is
	 * removed does not become new: it is unknown from then on.
	 * @param operation name of the operation
	 * @param id the {@link IdempotencyRecord#id()}
	 * @param force whether a record that a live call holds is removed too
	 * @return what became of the record
	 */
	IdempotencyEviction evict(String operation, String id, boolean force);

	/**
	 * Removes all records of one caller, of every operation and of the issued tokens.
	 * Records of the caller that come meanwhile may stay. The call takes as long as a
	 * look at all records of the store, except with JDBC, where the records of a caller
	 * lie together. A call that fails midway has removed a part, and may be repeated.
	 * @param caller the caller
	 * @param force whether records that live calls hold are removed too
	 * @return what became of the records
	 * @throws IllegalArgumentException if the caller has neither a name nor qualities:
	 * such records belong to nobody in particular
	 */
	IdempotencyEviction erase(IdempotencyCaller caller, boolean force);

	/**
	 * Returns the id that all records of a caller show.
	 * @param caller the caller
	 * @return the {@link IdempotencyRecord#callerId()}, which never shows a name
	 */
	String callerId(IdempotencyCaller caller);

	/**
	 * Returns the admin of another store.
	 * @param name name of a bean of type {@link io.idempotency.store.IdempotencyStore}
	 * @return the admin
	 * @throws IllegalArgumentException if there is no such bean
	 */
	IdempotencyAdmin store(String name);

}
