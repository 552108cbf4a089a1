package io.idempotency.store.sql;

import io.idempotency.Internal;

/**
 * The kinds of failures of a statement that the store tells apart.
 *
 * @hidden
 */
@Internal
public enum SqlFailure {

	/** The key has a record already. */
	DUPLICATE_KEY,

	/**
	 * The statement was the victim of a deadlock: it was not applied and can be repeated.
	 */
	DEADLOCK,

	/**
	 * Another transaction was faster under a strict isolation: the statement can be
	 * repeated.
	 */
	SERIALIZATION,

	/** The wait for the lock of another transaction has reached its bound. */
	LOCK_TIMEOUT,

	/**
	 * A statement of the caller has failed, so its transaction can only be rolled back.
	 */
	ABORTED,

	/** The transaction must not write. */
	READ_ONLY,

	/** Any other failure. */
	OTHER

}
