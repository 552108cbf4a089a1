package io.idempotency.reactor;

/**
 * Defines what happens to the work of a call when its caller disconnects.
 * <p>
 * If the work did not begin, the call ends in both cases and its key is released. If the
 * work already ended, its record does not depend on the caller.
 *
 * @since 0.1.0
 */
public enum OnDisconnect {

	/** The work continues, and its result is stored for retries. The default. */
	CONTINUE,

	/**
	 * The work is cancelled. Its progress is unknown, so the key stays claimed until the
	 * lease expires.
	 */
	CANCEL

}
