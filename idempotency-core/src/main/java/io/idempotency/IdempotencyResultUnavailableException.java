package io.idempotency;

/**
 * Thrown if the first call completed without a stored result.
 * <p>
 * HTTP 409, code {@code result-unavailable}.
 *
 * @since 0.1.0
 */
public final class IdempotencyResultUnavailableException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 */
	public IdempotencyResultUnavailableException(String operation) {
		super(operation, 409, "result-unavailable", RetryAdvice.NEVER,
				"Request was processed, but its response is not available",
				"The first request of '" + operation
						+ "' with this key was processed and will not run again, but its result is not stored. "
						+ "Look up the result");
	}

}
