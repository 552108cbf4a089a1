package io.idempotency.store;

/**
 * A call of a store failed because there was no connection to the store. Its step was
 * surely not applied, so the caller need not ask again and has nothing to give back.
 *
 * @since 0.1.0
 */
public class StoreNotReachedException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and what is wrong; never a key
	 * @param cause the exception of the store's client
	 */
	public StoreNotReachedException(String message, Throwable cause) {
		super(message, cause);
	}

}
