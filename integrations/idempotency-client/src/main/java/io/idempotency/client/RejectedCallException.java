package io.idempotency.client;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the called service rejected a call that carries a key, and the call is not
 * repeated (any more). The service reports the rejection by a problem (RFC 9457) with the
 * properties {@code code} and {@code retry}, as services with this library do.
 * <p>
 * All clients of this package throw this exception in place of their own. Other responses
 * reach the caller unchanged, including a problem without these two properties.
 *
 * @since 0.1.0
 */
public final class RejectedCallException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final int status;

	private final Rejection rejection;

	private final @Nullable Duration retryAfter;

	RejectedCallException(int status, Rejection rejection, @Nullable Duration retryAfter) {
		// The message omits the detail, because the detail may identify a person and
		// messages are logged.
		super("The called service rejected the call with " + status + " '"
				+ rejection.code().replaceAll("[\\p{C}\\p{Zl}\\p{Zp}]", "_") + "' and retry advice '"
				+ rejection.retry() + "'");
		this.status = status;
		this.rejection = rejection;
		this.retryAfter = retryAfter;
	}

	/**
	 * Returns the HTTP status of the response.
	 * @return the status code
	 */
	public int status() {
		return this.status;
	}

	/**
	 * Returns the machine-readable reason, e.g. {@code duplicate}.
	 * @return the code
	 */
	public String code() {
		return this.rejection.code();
	}

	/**
	 * Returns what may be done with the key.
	 * @return {@code same-key}: retry the same call later with the same key;
	 * {@code new-key}: this key can no longer execute the call; {@code never}: the work
	 * is done or must not be done again, look the outcome up; {@code fix-request}: the
	 * request is invalid
	 */
	public String retry() {
		return this.rejection.retry();
	}

	/**
	 * Returns the explanation of the service, for people.
	 * @return the detail, {@code null} if the problem has no detail
	 */
	public @Nullable String detail() {
		return this.rejection.detail();
	}

	/**
	 * Returns how long the service asks to wait before the next attempt.
	 * @return the time, {@code null} if the service does not state one
	 */
	public @Nullable Duration retryAfter() {
		return this.retryAfter;
	}

}
