package io.idempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * The database has rolled back the transaction that a store has joined. Nothing of the
 * transaction is left, and it may be run again as a whole.
 *
 * @since 0.1.0
 */
public class TransactionLostException extends IdempotencyStoreException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message what was wrong; never a key
	 * @param cause the exception of the database
	 */
	public TransactionLostException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
