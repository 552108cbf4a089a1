package io.idempotency;

/**
 * What a call does when the store cannot be reached.
 *
 * @since 0.1.0
 */
public enum StoreFailureMode {

	/** Refused with {@code store-unavailable} (503); nothing runs. */
	REJECT,

	/** Runs unguarded, and listeners are told: a duplicate may run too. */
	PROCEED

}
