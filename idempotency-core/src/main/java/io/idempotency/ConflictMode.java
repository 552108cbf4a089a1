package io.idempotency;

/**
 * The choices for a duplicate while the first call still runs.
 *
 * @since 0.1.0
 */
public enum ConflictMode {

	/**
	 * The property {@code idempotency.conflict} decides. A listener of a queue waits.
	 */
	DEFAULT,

	/**
	 * The duplicate is rejected at once with {@link IdempotencyInProgressException} (409).
	 */
	REJECT,

	/**
	 * The duplicate waits for the first call, at most for the wait time-out, and then
	 * gets its result.
	 */
	WAIT,

	/**
	 * The duplicate returns without a result and without executing, as a scheduled job
	 * does on the other nodes. In the modes {@link IdempotencyMode#REJECT} and
	 * {@link IdempotencyMode#LOCK} every rejected duplicate does. Only for bean methods
	 * that return {@code void} or {@code Mono<Void>} and are neither handlers nor
	 * listeners.
	 */
	SKIP

}
