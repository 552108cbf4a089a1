package io.idempotency;

/**
 * Thrown if the key is malformed. The call was not executed and nothing was stored.
 * <p>
 * HTTP 400, code {@code key-invalid}.
 *
 * @since 0.1.0
 */
public final class IdempotencyKeyInvalidException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 * @param detail the problem and the action
	 */
	public IdempotencyKeyInvalidException(String operation, String detail) {
		super(operation, 400, "key-invalid", RetryAdvice.NEW_KEY, "Idempotency-Key is invalid", detail);
	}

}
