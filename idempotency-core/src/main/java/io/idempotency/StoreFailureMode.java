package io.idempotency;

/**
 * The choices for a call when the store cannot be reached.
 *
 * @since 0.1.0
 */
public enum StoreFailureMode {

	/**
	 * The call is rejected with {@code store-unavailable} (503); nothing runs, or the
	 * transaction of the work is rolled back.
	 */
	REJECT,

	/**
	 * The call runs unguarded, so a duplicate may run too; listeners get an event. Calls
	 * with {@link TransactionMode#JOIN} are rejected all the same.
	 */
	PROCEED

}
