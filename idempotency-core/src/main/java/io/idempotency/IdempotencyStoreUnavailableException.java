package io.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the call was not accepted or its commit was not confirmed. {@link #reason()}
 * returns the cause. A repeated call with the same key is safe: it returns the result of
 * this call, or is executed.
 * <p>
 * HTTP 503, code {@code store-unavailable}.
 *
 * @since 0.1.0
 */
public final class IdempotencyStoreUnavailableException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	private final Reason reason;

	private final Duration retryAfter;

	private IdempotencyStoreUnavailableException(String operation, Reason reason, String detail, Duration retryAfter,
			@Nullable Throwable cause) {
		super(operation, 503, "store-unavailable", RetryAdvice.SAME_KEY, "Idempotency store is not available", detail);
		if (cause != null) {
			initCause(cause);
		}
		this.reason = reason;
		this.retryAfter = retryAfter;
	}

	/**
	 * Creates the exception for a call that was not executed because the store was
	 * unavailable or rejected the claim.
	 * @param operation the guarded operation
	 * @param retryAfter the wait before the next attempt
	 * @param cause the exception of the store, may be {@code null}
	 * @return the exception
	 */
	public static IdempotencyStoreUnavailableException notExecuted(String operation, Duration retryAfter,
			@Nullable Throwable cause) {
		return new IdempotencyStoreUnavailableException(operation, Reason.NOT_EXECUTED,
				"The idempotency store of '" + operation
						+ "' is not available, so the request was not executed. Retry it unchanged later",
				retryAfter, cause);
	}

	/**
	 * Creates the exception for a call whose commit was not confirmed.
	 * @param operation the guarded operation
	 * @param retryAfter the wait before the next attempt
	 * @param cause the exception of the commit
	 * @return the exception
	 */
	public static IdempotencyStoreUnavailableException mayHaveExecuted(String operation, Duration retryAfter,
			Throwable cause) {
		return new IdempotencyStoreUnavailableException(operation, Reason.MAY_HAVE_EXECUTED,
				"The commit of '" + operation + "' was not confirmed, so the request may have been executed. Retry "
						+ "it unchanged later: it is replayed if it was executed, and executed if it was not",
				retryAfter, cause);
	}

	/**
	 * Creates the exception for a call that was not executed because too many detached
	 * calls are in progress on this node.
	 * @param operation the guarded operation
	 * @param retryAfter the wait before the next attempt
	 * @return the exception
	 */
	public static IdempotencyStoreUnavailableException overloaded(String operation, Duration retryAfter) {
		return new IdempotencyStoreUnavailableException(operation, Reason.OVERLOADED,
				"Too many detached calls are in progress on this node, so the request of '" + operation
						+ "' was not executed. Retry it unchanged later",
				retryAfter, null);
	}

	/**
	 * Returns whether the call may have been executed, and why it was not accepted.
	 * @return the reason
	 */
	public Reason reason() {
		return this.reason;
	}

	@Override
	public @Nullable Duration retryAfter() {
		return isRemembered() ? null : this.retryAfter;
	}

	/** The reason of the exception. */
	public enum Reason {

		/**
		 * The store was unavailable or rejected the claim. The call was not executed, or
		 * its transaction was rolled back.
		 */
		NOT_EXECUTED,

		/**
		 * The commit of the call was not confirmed. If a surrounding guarded call fails
		 * with this exception, its key stays claimed until the lease expires.
		 */
		MAY_HAVE_EXECUTED,

		/** Too many detached calls are in progress on this node. */
		OVERLOADED

	}

}
