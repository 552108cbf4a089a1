package io.idempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * The database has given up the transaction that a store has joined, because of a
 * deadlock or of a conflict with another transaction. The transaction cannot be committed
 * any more, and may be run again as a whole. That is no failure of the store: a call that
 * is not begun again fails with the cause, which is what a statement of the application
 * would have thrown.
 *
 * @since 0.1.0
 */
public class TransactionLostException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message what was wrong; never a key
	 * @param cause the exception for the application, {@code null} for this one
	 */
	public TransactionLostException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
