package io.idempotency.store.jdbc;

import io.idempotency.store.ClaimResult;

import org.jspecify.annotations.Nullable;

/**
 * What a claim makes of a record.
 *
 * @param next what must replace the record before the answer is given; {@code null}:
 * nothing changes
 * @param answer the answer
 */
record Step(@Nullable StoredRecord next, ClaimResult answer) {

	static Step stay(ClaimResult answer) {
		return new Step(null, answer);
	}

}
