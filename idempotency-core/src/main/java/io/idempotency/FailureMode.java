package io.idempotency;

/**
 * The choices for the key when the first call fails.
 *
 * @since 0.1.0
 */
public enum FailureMode {

	/** The property {@code idempotency.on-failure} decides. */
	DEFAULT,

	/** The key becomes free again, so a retry runs. */
	RELEASE,

	/**
	 * The failure is stored as the result, and duplicates get it as a replay. That is so
	 * for the rejection of another guarded call inside of the work, too, because a part of
	 * the work may be done; its {@link IdempotencyException#retry()} says {@code never}.
	 */
	REMEMBER

}
