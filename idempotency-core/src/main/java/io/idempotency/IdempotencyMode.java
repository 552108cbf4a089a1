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
	 * Duplicates are refused within the retention, which counts from the first call. No
	 * result is stored. A call runs at most once: when its owner dies, it is not run
	 * again within the retention.
	 */
	REJECT,

	/** Only overlapping calls are refused; when one call has ended, the next may run. */
	LOCK

}
