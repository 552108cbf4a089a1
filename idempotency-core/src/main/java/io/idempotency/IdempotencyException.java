package io.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The root of the exceptions that the library throws in place of the method's own answer.
 * Each subclass names one reason.
 * <p>
 * An {@code @ExceptionHandler} of the application may handle these exceptions. If the
 * application has none, the HTTP door renders the exception as
 * {@code application/problem+json} with {@link #status()} and {@link #code()}.
 *
 * @since 0.1.0
 */
public abstract sealed class IdempotencyException extends RuntimeException
		permits IdempotencyKeyMissingException, IdempotencyKeyInvalidException, IdempotencyCallerUnknownException,
		IdempotencyTokenUnknownException, IdempotencyKeyReusedException, IdempotencyInProgressException,
		IdempotencyDuplicateException, IdempotencyResultUnavailableException, IdempotencyOutcomeUnknownException,
		IdempotencyBodyTooLargeException, IdempotencyStoreUnavailableException {

	private static final long serialVersionUID = 1L;

	private final String operation;

	private final String code;

	private final int status;

	private final RetryAdvice retry;

	private final String title;

	private volatile boolean remembered;

	IdempotencyException(String operation, int status, String code, RetryAdvice retry, String title, String message) {
		super(message);
		this.operation = operation;
		this.status = status;
		this.code = code;
		this.retry = retry;
		this.title = title;
	}

	/**
	 * Returns the name of the guarded operation.
	 * @return the operation, never the key or the payload
	 */
	public final String operation() {
		return this.operation;
	}

	/**
	 * Returns the machine-readable reason, e.g. {@code key-missing}; it is part of the
	 * public contract.
	 * @return the code
	 */
	public final String code() {
		return this.code;
	}

	/**
	 * Returns the HTTP status of the answer, e.g. 409.
	 * @return the status code
	 */
	public final int status() {
		return this.status;
	}

	/**
	 * Returns what a client may do with its key. If the rejected call is a part of a
	 * guarded call that remembers its failure, that call never runs again with its key,
	 * and the advice says so.
	 * @return the advice
	 */
	public final RetryAdvice retry() {
		return (this.remembered && this.retry != RetryAdvice.NEW_KEY) ? RetryAdvice.NEVER : this.retry;
	}

	/**
	 * Notes that a guarded call around the rejected one has failed with this exception and
	 * remembers it.
	 * @hidden
	 */
	@Internal
	public final void remember() {
		this.remembered = true;
	}

	/**
	 * Returns whether a guarded call around the rejected one has failed with this
	 * exception and remembers it: {@link FailureMode#REMEMBER}.
	 * @return whether this is the result of that call
	 */
	public final boolean isRemembered() {
		return this.remembered;
	}

	/**
	 * Returns how long a client waits before it sends the same request again. An answer
	 * that the application renders itself has it as {@code Retry-After}, in whole seconds
	 * that are rounded up.
	 * @return the wait, positive; {@code null} unless {@link #retry()} is
	 * {@link RetryAdvice#SAME_KEY}
	 */
	public @Nullable Duration retryAfter() {
		return null;
	}

	/**
	 * Returns a short summary, the same for every exception with this {@link #code()}.
	 * @return the title
	 */
	public final String title() {
		return this.title;
	}

	/**
	 * Returns the exception as a log shows it, with {@link #code()} and {@link #retry()}.
	 * @return type, message, code and retry
	 */
	@Override
	public final String toString() {
		return super.toString() + " [code=" + code() + ", retry=" + retry() + "]";
	}

}
