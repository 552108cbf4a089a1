package io.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The store could not be reached or refused the claim, so the call was not run; with
 * {@link TransactionMode#JOIN}, the call may have run and its transaction was rolled
 * back.
 * <p>
 * HTTP 503, code {@code store-unavailable}. A repeated call is safe: nothing ran, or
 * nothing of the transaction is left, or its commit was not answered: then the same key
 * finds the result, or runs.
 *
 * @since 0.1.0
 */
public final class IdempotencyStoreUnavailableException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	private final Duration retryAfter;

	private final boolean mayHaveRun;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 * @param retryAfter how long to wait before the next try
	 * @param cause the exception of the store, {@code null} if the store was not asked
	 */
	public IdempotencyStoreUnavailableException(String operation, Duration retryAfter, @Nullable Throwable cause) {
		this(operation,
				"The idempotency store of '" + operation
						+ "' is not available, so the request was not done: repeat it unchanged later",
				retryAfter, cause, false);
	}

	private IdempotencyStoreUnavailableException(String operation, String detail, Duration retryAfter,
			@Nullable Throwable cause, boolean mayHaveRun) {
		super(operation, 503, "store-unavailable", "Idempotency store is not available", detail, cause);
		this.retryAfter = retryAfter;
		this.mayHaveRun = mayHaveRun;
	}

	/**
	 * Creates the exception of a call whose store is there: too much work of its node
	 * goes on without a caller.
	 * @param operation the guarded operation
	 * @param retryAfter how long to wait before the next try
	 * @hidden
	 */
	@Internal
	public IdempotencyStoreUnavailableException(String operation, Duration retryAfter) {
		this(operation, "Too many calls go on here whose callers are gone, so the request of '" + operation
				+ "' was not done: repeat it unchanged later", retryAfter, null, false);
	}

	/**
	 * Creates the exception of a call whose commit was not answered.
	 * @param operation the guarded operation
	 * @param cause says that there was no answer
	 * @param retryAfter how long to wait before the next try
	 * @hidden
	 */
	@Internal
	public IdempotencyStoreUnavailableException(String operation, Throwable cause, Duration retryAfter) {
		this(operation,
				"The commit of '" + operation
						+ "' was not answered, so it is not known whether the request was done: repeat it unchanged "
						+ "later, and it gets the result, or is done then",
				retryAfter, cause, true);
	}

	/**
	 * Returns whether the call may have run, because its commit was not answered. A
	 * repetition with the same key gets its result, or runs. A guarded call around it
	 * that fails with this exception is left to its lease.
	 */
	public boolean mayHaveRun() {
		return this.mayHaveRun;
	}

	@Override
	public @Nullable Duration retryAfter() {
		return isRemembered() ? null : this.retryAfter;
	}

}
