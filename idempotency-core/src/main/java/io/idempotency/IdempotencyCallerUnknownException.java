package io.idempotency;

/**
 * The call has no caller whose key it could be; nothing ran and the key was not used.
 * Either the request has no principal and {@code idempotency.http.anonymous=reject}, or
 * the caller cannot be known, because the call runs with neither an HTTP request nor a
 * session: set {@link Idempotent#scope()} there, or {@code idempotency.scope=global}.
 * <p>
 * HTTP 401, code {@code caller-unknown}.
 *
 * @since 0.1.0
 */
public final class IdempotencyCallerUnknownException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception of a request without a principal, where
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
	 * @param detail why the caller is unknown and what to do
	 */
	public IdempotencyCallerUnknownException(String operation, String detail) {
		super(operation, 401, "caller-unknown", RetryAdvice.FIX_REQUEST, "Caller is unknown", detail);
	}

}
