package io.idempotency.store;

/**
 * What kind of claim a caller asks for.
 *
 * @since 0.1.0
 */
public enum ClaimType {

	/** A claim with a lease, to be completed or released by its owner. */
	LEASED,

	/**
	 * A claim that is final at once: any other claim within the retention, counted from
	 * this one, is a duplicate and is counted. Its owner may release it and never
	 * completes it.
	 */
	ONCE

}
