package io.idempotency;

/**
 * The behavior for the key when the first call fails.
 *
 * @since 0.1.0
 */
public enum FailureMode {

	/** Uses the property {@code idempotency.on-failure}. */
	DEFAULT,

	/** The key is released, so a retry runs. */
	RELEASE,

	/**
	 * The failure is stored as the result and replayed to duplicates. This includes the
	 * rejection of a nested guarded call, because a part of the work may be done. The
	 * {@link IdempotencyException#retry()} of that rejection is {@code never}.
	 */
	REMEMBER

}
