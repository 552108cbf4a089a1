package io.idempotency;

/**
 * Thrown if a key is required and the call has no key.
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
	 * @param detail the problem and the action
	 */
	public IdempotencyKeyMissingException(String operation, String detail) {
		super(operation, 400, "key-missing", RetryAdvice.FIX_REQUEST, "Idempotency-Key is missing", detail);
	}

}
