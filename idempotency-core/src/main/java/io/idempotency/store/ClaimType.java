package io.idempotency.store;

/**
 * The kind of claim that a caller asks for.
 *
 * @since 0.1.0
 */
public enum ClaimType {

	/** A claim with a lease. Its owner completes or releases it. */
	LEASED,

	/**
	 * A claim that is final at once. Within the retention, which counts from this claim,
	 * every other claim is a duplicate and is counted. The owner may release the claim
	 * and never completes it.
	 */
	ONCE

}
