package io.idempotency;

/**
 * The behavior of the duplicates of a guarded call.
 *
 * @since 0.1.0
 */
public enum IdempotencyMode {

	/** Duplicates receive the first result. */
	REPLAY,

	/**
	 * Duplicates are rejected within the retention, which starts with the first call. No
	 * result is stored. If the process of the first call crashes, the call does not run
	 * again within the retention. {@link FailureMode} decides whether a failed call
	 * releases its key.
	 */
	REJECT,

	/**
	 * Only overlapping calls are rejected. After a call completes, the next call may run.
	 */
	LOCK

}
