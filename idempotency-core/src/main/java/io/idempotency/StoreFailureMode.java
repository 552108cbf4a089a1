package io.idempotency;

/**
 * The behavior of a call when the store is unavailable.
 *
 * @since 0.1.0
 */
public enum StoreFailureMode {

	/**
	 * The call is rejected with {@code store-unavailable} (503). It is not executed, or
	 * its transaction is rolled back.
	 */
	REJECT,

	/**
	 * The call runs unguarded, so a duplicate may also run. Listeners receive an event.
	 * Calls with {@link TransactionMode#JOIN} are rejected.
	 */
	PROCEED

}
