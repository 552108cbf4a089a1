package io.idempotency;

/**
 * The choices for a later call when the owner of the claim died while running.
 *
 * @since 0.1.0
 */
public enum AbandonedMode {

	/** The later call takes the claim over and runs. */
	RERUN,

	/**
	 * The later call is rejected with {@link IdempotencyOutcomeUnknownException} (409)
	 * until the late owner completes after all, an operator deletes the record, or the
	 * retention ends.
	 */
	REJECT

}
