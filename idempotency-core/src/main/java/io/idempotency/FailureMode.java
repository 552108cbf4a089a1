package io.idempotency;

/**
 * What becomes of the key when the first call failed.
 *
 * @since 0.1.0
 */
public enum FailureMode {

	/** As the property {@code idempotency.on-failure} says. */
	DEFAULT,

	/** The key is free again: a retry runs. */
	RELEASE,

	/** The failure is the result and is replayed. */
	REMEMBER

}
