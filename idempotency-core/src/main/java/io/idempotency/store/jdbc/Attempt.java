package io.idempotency.store.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * What became of a new record: it was written, or there is another one.
 *
 * @param written whether it was written
 * @param fence the fence it was written with
 * @param found the other one; {@code null}: it was there and could not be seen
 */
record Attempt(boolean written, long fence, @Nullable StoredRecord found) {

	static Attempt written(long fence) {
		return new Attempt(true, fence, null);
	}

	static Attempt found(@Nullable StoredRecord record) {
		return new Attempt(false, 0, record);
	}

}
