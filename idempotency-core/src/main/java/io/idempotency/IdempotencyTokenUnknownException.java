package io.idempotency;

/**
 * Thrown if the token was never issued, expired, or belongs to another caller.
 * <p>
 * HTTP 400, code {@code token-unknown}.
 *
 * @since 0.1.0
 */
public final class IdempotencyTokenUnknownException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 */
	public IdempotencyTokenUnknownException(String operation) {
		super(operation, 400, "token-unknown", RetryAdvice.NEW_KEY, "Idempotency token is unknown",
				"The token for '" + operation
						+ "' was never issued, has expired or belongs to another caller. Get a new token and send the "
						+ "request with it");
	}

}
