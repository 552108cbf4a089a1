package io.idempotency.store.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * What became of a new record: it was written, or there is another one.
 *
 * @param written whether it was written
 * @param fence the fence it was written with
 * @param found the other one; {@code null}: it was there and could not be seen
 */
record Insertion(boolean written, long fence, @Nullable StoredRow found) {

	static Insertion written(long fence) {
		return new Insertion(true, fence, null);
	}

	static Insertion found(@Nullable StoredRow row) {
		return new Insertion(false, 0, row);
	}

}
