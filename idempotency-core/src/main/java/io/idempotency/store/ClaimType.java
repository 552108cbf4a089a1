package io.idempotency.store;

/**
 * The type of a claim.
 *
 * @since 0.1.0
 */
public enum ClaimType {

	/** A claim with a lease. Its owner completes or releases it. */
	LEASED,

	/**
	 * A claim that is final immediately. Within the retention, which starts with this
	 * claim, every other claim is a duplicate and is counted. The owner may release the
	 * claim and never completes it.
	 */
	ONCE

}
