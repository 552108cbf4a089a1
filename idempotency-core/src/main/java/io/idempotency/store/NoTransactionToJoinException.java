package io.idempotency.store;

/**
 * Thrown if the calling thread has no transaction that a
 * {@link IdempotencyStore#joining() joining} store can use. It is not a failure of the
 * store: a repeated call fails in the same way.
 *
 * @since 0.1.0
 */
public class NoTransactionToJoinException extends IllegalStateException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the problem and the action, without the key
	 */
	public NoTransactionToJoinException(String message) {
		super(message);
	}

}
