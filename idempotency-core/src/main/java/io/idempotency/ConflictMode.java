package io.idempotency;

/**
 * The behavior of a duplicate while the first call is in progress.
 *
 * @since 0.1.0
 */
public enum ConflictMode {

	/**
	 * Uses the property {@code idempotency.conflict}. Queue listeners wait.
	 */
	DEFAULT,

	/**
	 * The duplicate is rejected immediately with {@link IdempotencyInProgressException}
	 * (409).
	 */
	REJECT,

	/**
	 * The duplicate waits for the first call and returns its result. It waits no longer
	 * than the wait timeout.
	 */
	WAIT,

	/**
	 * The duplicate returns without a result and is not executed, for example a scheduled
	 * job on the other nodes. In the modes {@link IdempotencyMode#REJECT} and
	 * {@link IdempotencyMode#LOCK}, this applies to every rejected duplicate. Only for
	 * bean methods that return {@code void} or {@code Mono<Void>} and are neither
	 * handlers nor listeners.
	 */
	SKIP

}
