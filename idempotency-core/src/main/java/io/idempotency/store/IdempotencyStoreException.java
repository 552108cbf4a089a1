package io.idempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if a store call failed. Its step may or may not have been applied.
 *
 * @since 0.1.0
 */
public class IdempotencyStoreException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and the problem, without the key
	 */
	public IdempotencyStoreException(String message) {
		super(message);
	}

	/**
	 * Creates the exception.
	 * @param message the operation, the store and the problem, without the key
	 * @param cause the exception of the store's client
	 */
	public IdempotencyStoreException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
