package io.idempotency;

/**
 * The call has a key that is malformed; nothing ran and nothing was stored.
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
	 * @param detail what is wrong and what to do
	 */
	public IdempotencyKeyInvalidException(String operation, String detail) {
		super(operation, 400, "key-invalid", RetryAdvice.NEW_KEY, "Idempotency-Key is invalid", detail);
	}

}
