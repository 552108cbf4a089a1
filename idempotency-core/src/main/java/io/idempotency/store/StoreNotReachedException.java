package io.idempotency.store;

/**
 * A store was not asked at all, because no connection to it could be had: what was to be
 * done was surely not applied, so that there is nothing to be asked again and nothing to
 * be given back.
 *
 * @since 0.1.0
 */
public class StoreNotReachedException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and what is wrong; never a key
	 * @param cause what the client of the store said
	 */
	public StoreNotReachedException(String message, Throwable cause) {
		super(message, cause);
	}

}
