package io.idempotency;

/**
 * What a duplicate of a guarded call gets.
 *
 * @since 0.1.0
 */
public enum IdempotencyMode {

	/** Duplicates get the first result. */
	REPLAY,

	/**
	 * Duplicates are refused within the retention, counted from the first call; no result
	 * is stored. At most once: a call whose owner dies is never run again within the
	 * retention.
	 */
	REJECT,

	/** Only overlapping calls are refused; when one has ended the next may run. */
	LOCK

}
