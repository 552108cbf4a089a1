package io.idempotency;

/**
 * The guard must compare the body of a request, or read the key from it, and the body is
 * over {@code idempotency.http.max-request-size}; nothing ran.
 * <p>
 * HTTP 413, code {@code body-too-large}.
 *
 * @since 0.1.0
 */
public final class IdempotencyBodyTooLargeException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 * @param detail what is wrong and what to do
	 */
	public IdempotencyBodyTooLargeException(String operation, String detail) {
		super(operation, 413, "body-too-large", RetryAdvice.FIX_REQUEST, "Request body is too large", detail);
	}

}
