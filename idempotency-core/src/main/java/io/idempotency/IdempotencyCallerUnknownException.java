package io.idempotency;

/**
 * The request has no caller whose key it could be, and
 * {@code idempotency.http.anonymous=refuse}; nothing ran and the key was not used.
 * <p>
 * HTTP 401, code {@code caller-unknown}.
 *
 * @since 0.1.0
 */
public final class IdempotencyCallerUnknownException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 */
	public IdempotencyCallerUnknownException(String operation) {
		super(operation, 401, "caller-unknown", "Caller is unknown", "A request of '" + operation
				+ "' has no principal, and idempotency.http.anonymous=refuse: anonymous callers would share their keys");
	}

}
