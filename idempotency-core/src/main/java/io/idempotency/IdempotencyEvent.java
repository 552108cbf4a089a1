package io.idempotency;

/**
 * What happened to a guarded call.
 *
 * @since 0.1.0
 */
public enum IdempotencyEvent {

	/** The call ran and its outcome was recorded. */
	EXECUTED,

	/** The call ran, and its key was released. */
	RELEASED,

	/** A stored result was given. */
	REPLAYED,

	/** The result was looked up in the business data. */
	RECOVERED,

	/** Refused: the first call still runs. */
	IN_PROGRESS,

	/** Refused: the key was used with another fingerprint. */
	KEY_REUSED,

	/** Refused: mode {@code REJECT}, a call with this key came before. */
	DUPLICATE,

	/** Refused: the token is unknown. */
	TOKEN_UNKNOWN,

	/** Refused: done, but the result was not kept. */
	RESULT_UNAVAILABLE,

	/** Refused: the owner died, its outcome is unknown. */
	OUTCOME_UNKNOWN,

	/** Refused: the store could not be reached. */
	STORE_UNAVAILABLE,

	/** The store could not be reached and the call runs unguarded. */
	UNGUARDED,

	/** A claim whose owner died was taken over. */
	TAKEN_OVER,

	/** A live owner found that its claim is another's: its lease ran out. */
	CLAIM_LOST,

	/**
	 * The renewal of a claim began after two thirds of its lease: its owner is slow, or
	 * its store.
	 */
	BEAT_LATE,

	/** A result could not, or was not to be stored: a tombstone stands in its place. */
	TOMBSTONE,

	/** The store failed while an owner renewed, completed or released; it is retried. */
	STORE_RETRY

}
