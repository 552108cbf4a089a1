package io.idempotency;

/**
 * Thrown if the key was already used with another fingerprint.
 * <p>
 * HTTP 422, code {@code key-reused}.
 *
 * @since 0.1.0
 */
public final class IdempotencyKeyReusedException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 */
	public IdempotencyKeyReusedException(String operation) {
		super(operation, 422, "key-reused", RetryAdvice.NEW_KEY, "Idempotency-Key is already used",
				"This key was already used for a different request of '" + operation + "'. Use a new key, or retry "
						+ "the first request unchanged");
	}

}
