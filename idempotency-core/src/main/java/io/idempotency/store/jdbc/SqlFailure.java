package io.idempotency.store.jdbc;

/**
 * Failures of a statement that mean something to the store.
 */
enum SqlFailure {

	/** The key has a record. */
	DUPLICATE_KEY,

	/** Chosen as the victim of a deadlock: nothing is applied, repeat it. */
	DEADLOCK,

	/** Another transaction was faster under a strict isolation: repeat it. */
	SERIALIZATION,

	/** Waited long enough for another transaction. */
	LOCK_TIMEOUT,

	/** Anything else. */
	OTHER

}
