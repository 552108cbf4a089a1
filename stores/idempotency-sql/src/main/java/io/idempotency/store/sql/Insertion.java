package io.idempotency.store.sql;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The outcome of an insert: the new record was written, or the key has a record already.
 *
 * @param written whether the new record was written
 * @param fencingToken the fencing token of the new record, 0 if it was not written
 * @param found the record of the key; {@code null} if the new record was written, or if
 * the statement could not see a record
 */
record Insertion(boolean written, long fencingToken, @Nullable StoredRow found) {

	static Insertion written(long fencingToken) {
		return new Insertion(true, fencingToken, null);
	}

	static Insertion found(Optional<StoredRow> row) {
		return new Insertion(false, 0, row.orElse(null));
	}

}
