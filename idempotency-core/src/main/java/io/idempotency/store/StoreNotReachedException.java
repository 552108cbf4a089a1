package io.idempotency.store;

/**
 * Thrown if a store call failed because the store could not be reached. Its step was not
 * applied, so the caller need not repeat the call or release a claim.
 *
 * @since 0.1.0
 */
public class StoreNotReachedException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and the problem, without the key
	 * @param cause the exception of the store's client
	 */
	public StoreNotReachedException(String message, Throwable cause) {
		super(message, cause);
	}

}
