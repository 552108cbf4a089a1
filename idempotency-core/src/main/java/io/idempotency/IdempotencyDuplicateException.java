package io.idempotency;

/**
 * Thrown if a call with this key was received before and the mode is
 * {@link IdempotencyMode#REJECT}.
 * <p>
 * HTTP 409, code {@code duplicate}.
 *
 * @since 0.1.0
 */
public final class IdempotencyDuplicateException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	private final long attempts;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 * @param attempts the number of calls with this key, including this one
	 */
	public IdempotencyDuplicateException(String operation, long attempts) {
		super(operation, 409, "duplicate", RetryAdvice.NEVER, "Request was already received",
				"A request of '" + operation + "' with this key was already received, and its result is not "
						+ "stored. Do not send it again. For a new request, or if the first one failed, use a new "
						+ "key");
		this.attempts = attempts;
	}

	/**
	 * Returns the number of calls with this key, including the first call and this one.
	 * @return the number of calls, at least 2
	 */
	public long attempts() {
		return this.attempts;
	}

}
