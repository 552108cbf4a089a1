package io.idempotency.reactor;

/**
 * What becomes of the work of a call when its caller is not there any more.
 * <p>
 * Before the work has begun, the call ends in either case, and its key is free. When the
 * work has ended, what becomes of its record does not depend on the caller.
 *
 * @since 0.1.0
 */
public enum OnDisconnect {

	/**
	 * The work goes on, and its result is kept for the repetition of the call. The
	 * default.
	 */
	CONTINUE,

	/**
	 * The work is cancelled. Nobody knows how far it has come, so its claim is left to
	 * its lease.
	 */
	CANCEL

}
