package io.idempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * A store could not do what it was asked: it may or may not have been applied.
 *
 * @since 0.1.0
 */
public class IdempotencyStoreException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the operation, the store and what is wrong; never a key
	 */
	public IdempotencyStoreException(String message) {
		super(message);
	}

	/**
	 * Creates the exception.
	 * @param message the operation, the store and what is wrong; never a key
	 * @param cause what the client of the store said
	 */
	public IdempotencyStoreException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
