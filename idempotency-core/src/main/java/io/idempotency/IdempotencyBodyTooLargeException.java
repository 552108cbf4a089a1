package io.idempotency;

/**
 * Thrown if the guard must compare a request body or read the key from it, and the body
 * exceeds {@code idempotency.http.max-request-size}. The call was not executed.
 * <p>
 * HTTP 413, code {@code body-too-large}.
 *
 * @since 0.1.0
 */
public final class IdempotencyBodyTooLargeException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	private final long limit;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 * @param limit the largest number of bytes that a body may have
	 */
	public IdempotencyBodyTooLargeException(String operation, long limit) {
		super(operation, 413, "body-too-large", RetryAdvice.FIX_REQUEST, "Request body is too large",
				"The body is larger than idempotency.http.max-request-size (" + limit + " bytes)");
		this.limit = limit;
	}

	/**
	 * Returns the largest number of bytes that a body may have.
	 * @return the limit
	 */
	public long limit() {
		return this.limit;
	}

}
