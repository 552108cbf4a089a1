package io.idempotency;

/**
 * Thrown if the process of the first call crashed while the call ran, and
 * {@link AbandonedMode#REJECT} does not allow a second run.
 * <p>
 * HTTP 409, code {@code outcome-unknown}.
 *
 * @since 0.1.0
 */
public final class IdempotencyOutcomeUnknownException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 */
	public IdempotencyOutcomeUnknownException(String operation) {
		super(operation, 409, "outcome-unknown", RetryAdvice.NEVER, "Outcome of the first request is unknown",
				"The first request of '" + operation + "' with this key did not complete, but may have had an "
						+ "effect. Look up the outcome, or contact the operator");
	}

}
