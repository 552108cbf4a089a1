package io.idempotency;

/**
 * An event of a guarded call.
 *
 * @since 0.1.0
 */
public enum IdempotencyEvent {

	/**
	 * The call completed and its key was not released. Its claim was completed or, in
	 * mode {@code REJECT}, is final. The result may come from the business data. The call
	 * may have failed with a failure that is remembered.
	 */
	EXECUTED,

	/**
	 * The key was released, so a later call may run. The call failed, did not run,
	 * requested the release, or was rolled back with its transaction.
	 */
	RELEASED,

	/** The call returned a stored result. */
	REPLAYED,

	/** The result was found in the business data. */
	RECOVERED,

	/** The call was rejected because the first call is in progress. */
	IN_PROGRESS,

	/** The call was rejected because its key was used with another fingerprint. */
	KEY_REUSED,

	/**
	 * The call was rejected in mode {@code REJECT} because a call with this key was
	 * received before.
	 */
	DUPLICATE,

	/** The call was rejected because its token is unknown. */
	TOKEN_UNKNOWN,

	/**
	 * The call was rejected because the first call completed without a stored result.
	 */
	RESULT_UNAVAILABLE,

	/**
	 * The call was rejected because the process of the first call crashed and the outcome
	 * is unknown.
	 */
	OUTCOME_UNKNOWN,

	/** The call was rejected with {@link IdempotencyStoreUnavailableException}. */
	STORE_UNAVAILABLE,

	/** The store is unavailable, so the call runs unguarded. */
	UNGUARDED,

	/** The call took over a claim whose lease expired. */
	TAKEN_OVER,

	/**
	 * The call lost its claim while it ran. Its lease expired and another call took over
	 * the key, or its record was removed, for example by an operator. The event is
	 * published when the store reports the loss, which may be after the call completed.
	 */
	LEASE_LOST,

	/**
	 * The renewal of a claim started after two thirds of its lease, because the process
	 * or the store is slow.
	 */
	RENEWAL_LATE,

	/**
	 * The call completed without a stored result, because the result could not be stored
	 * or its storage is disabled.
	 */
	RESULT_NOT_STORED,

	/**
	 * The store failed to renew, complete or release a claim, or a deadlock aborted the
	 * transaction of a claim. The library retries.
	 */
	STORE_RETRY

}
