package io.idempotency;

/**
 * The behavior of a later call when the process of the first call crashed while the call
 * ran.
 *
 * @since 0.1.0
 */
public enum AbandonedMode {

	/** The later call takes over the claim and runs. */
	RERUN,

	/**
	 * The later call is rejected with {@link IdempotencyOutcomeUnknownException} (409)
	 * until the first call completes after all, an operator deletes the record, or the
	 * retention ends.
	 */
	REJECT

}
