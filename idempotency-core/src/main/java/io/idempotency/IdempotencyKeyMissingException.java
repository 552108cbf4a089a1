package io.idempotency;

/**
 * A key is required, and the call has none.
 * <p>
 * HTTP 400, code {@code key-missing}.
 *
 * @since 0.1.0
 */
public final class IdempotencyKeyMissingException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 * @param detail what is wrong and what to do
	 */
	public IdempotencyKeyMissingException(String operation, String detail) {
		super(operation, 400, "key-missing", RetryAdvice.FIX_REQUEST, "Idempotency-Key is missing", detail);
	}

}
