package io.idempotency.store;

/**
 * The calling thread is in no transaction that a {@link IdempotencyStore#joining()
 * joining} store could write in. It is not a failure of the store: a repeated call would
 * fail in the same way.
 *
 * @since 0.1.0
 */
public class NoTransactionToJoinException extends IllegalStateException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message what is missing, and what to do; never a key
	 */
	public NoTransactionToJoinException(String message) {
		super(message);
	}

}
