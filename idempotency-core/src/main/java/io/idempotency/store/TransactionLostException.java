package io.idempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the database aborted the transaction that a store joined, because of a
 * deadlock or a conflict with another transaction. The transaction cannot be committed
 * any more, and can be repeated as a whole. It is not a failure of the store. A call that
 * is not repeated fails with the cause: the exception that a statement of the application
 * would have thrown.
 *
 * @since 0.1.0
 */
public class TransactionLostException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the problem, without the key
	 * @param cause the exception for the application, {@code null} for this exception
	 */
	public TransactionLostException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
