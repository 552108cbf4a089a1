package io.idempotency;

/**
 * The choices for the duplicates of a guarded call.
 *
 * @since 0.1.0
 */
public enum IdempotencyMode {

	/** Duplicates get the first result. */
	REPLAY,

	/**
	 * Duplicates are rejected within the retention, which counts from the first call. No
	 * result is stored. When the owner dies, the call is not run again within the
	 * retention. {@link FailureMode} decides whether a call that has failed frees its
	 * key.
	 */
	REJECT,

	/** Only overlapping calls are rejected; when one call has ended, the next may run. */
	LOCK

}
