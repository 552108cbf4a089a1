package io.idempotency;

/**
 * Thrown if the key is caller-scoped and the caller is unknown. The call was not executed
 * and the key was not used. Either the request has no principal and
 * {@code idempotency.http.anonymous=reject}, or the call runs without an HTTP request and
 * without a session. In the second case, set {@link Idempotent#scope()} or
 * {@code idempotency.scope=global}.
 * <p>
 * HTTP 401, code {@code caller-unknown}.
 *
 * @since 0.1.0
 */
public final class IdempotencyCallerUnknownException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception for a request without a principal if
	 * {@code idempotency.http.anonymous=reject}.
	 * @param operation the guarded operation
	 */
	public IdempotencyCallerUnknownException(String operation) {
		this(operation, "The request of '" + operation + "' has no principal, and idempotency.http.anonymous is "
				+ "'reject'. Authenticate the request");
	}

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 * @param detail the reason and the action
	 */
	public IdempotencyCallerUnknownException(String operation, String detail) {
		super(operation, 401, "caller-unknown", RetryAdvice.FIX_REQUEST, "Caller is unknown", detail);
	}

}
