package io.idempotency;

/**
 * What a duplicate gets while the first call still runs.
 *
 * @since 0.1.0
 */
public enum ConflictMode {

	/** As the property {@code idempotency.conflict} says. */
	DEFAULT,

	/** Refused at once with {@link IdempotencyInProgressException} (409). */
	REJECT,

	/** Waits for the first call, at most the wait time-out, then gets its result. */
	WAIT

}
