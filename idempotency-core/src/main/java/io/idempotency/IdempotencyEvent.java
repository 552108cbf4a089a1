package io.idempotency;

/**
 * An event in the life of a guarded call.
 *
 * @since 0.1.0
 */
public enum IdempotencyEvent {

	/**
	 * The call has ended without a release: its claim was completed or, in mode
	 * {@code REJECT}, is final. The result may have been found in the business data, and
	 * the end may be a failure that is remembered.
	 */
	EXECUTED,

	/**
	 * The key was released, so a later call may run: this call failed, did not run, asked
	 * for the release, or was rolled back with its transaction.
	 */
	RELEASED,

	/** The call got a stored result. */
	REPLAYED,

	/** The result was found in the business data. */
	RECOVERED,

	/** The call was rejected because the first call still runs. */
	IN_PROGRESS,

	/** The call was rejected because its key was used with another fingerprint. */
	KEY_REUSED,

	/**
	 * The call was rejected in mode {@code REJECT} because a call with this key came
	 * before.
	 */
	DUPLICATE,

	/** The call was rejected because its token is unknown. */
	TOKEN_UNKNOWN,

	/**
	 * The call was rejected because the first call is done but its result was not kept.
	 */
	RESULT_UNAVAILABLE,

	/** The call was rejected because the owner died and its outcome is unknown. */
	OUTCOME_UNKNOWN,

	/** The call was rejected with {@link IdempotencyStoreUnavailableException}. */
	STORE_UNAVAILABLE,

	/** The store could not be reached, so the call runs unguarded. */
	UNGUARDED,

	/** The call took over a claim whose owner died. */
	TAKEN_OVER,

	/**
	 * A live owner lost its claim while it ran: its lease ran out and another call took
	 * the key, or its record is gone, for example because an operator removed it. Told
	 * when the store says so, which may be after the call has ended.
	 */
	LEASE_LOST,

	/**
	 * The renewal of a claim began after two thirds of its lease, because the owner or
	 * the store is slow.
	 */
	RENEWAL_LATE,

	/**
	 * A result could not be stored, or was not to be stored, so a tombstone was written
	 * in its place.
	 */
	RESULT_NOT_STORED,

	/**
	 * The store failed while an owner renewed, completed or released, or a deadlock ended
	 * the transaction of a claim; the library retries.
	 */
	STORE_RETRY

}
