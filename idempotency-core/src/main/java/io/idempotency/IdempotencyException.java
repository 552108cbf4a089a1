package io.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Base class of the exceptions that the library throws instead of a result of the guarded
 * method. Each subclass represents one reason.
 * <p>
 * An {@code @ExceptionHandler} of the application may handle these exceptions. If no
 * handler matches, the web adapter renders the exception as
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
	 * Returns the machine-readable reason, for example {@code key-missing}. The code is
	 * part of the public contract.
	 * @return the code
	 */
	public final String code() {
		return this.code;
	}

	/**
	 * Returns the HTTP status of the response, for example 409.
	 * @return the status code
	 */
	public final int status() {
		return this.status;
	}

	/**
	 * Returns the advice for the client. If a surrounding guarded call remembers this
	 * exception as its failure, that call does not run again with its key. The advice is
	 * then {@link RetryAdvice#NEVER}, unless it is {@link RetryAdvice#NEW_KEY}.
	 * @return the advice
	 */
	public final RetryAdvice retry() {
		return (this.remembered && this.retry != RetryAdvice.NEW_KEY) ? RetryAdvice.NEVER : this.retry;
	}

	/**
	 * Marks this exception as the remembered failure of a surrounding guarded call.
	 * @hidden
	 */
	@Internal
	public final void remember() {
		this.remembered = true;
	}

	/**
	 * Returns whether a surrounding guarded call failed with this exception and remembers
	 * it ({@link FailureMode#REMEMBER}).
	 * @return whether this exception is the result of that call
	 */
	public final boolean isRemembered() {
		return this.remembered;
	}

	/**
	 * Returns how long a client should wait before it sends the same request again. If
	 * the application renders the response itself, it should set {@code Retry-After} to
	 * this value, rounded up to whole seconds.
	 * @return the wait, positive; {@code null} unless {@link #retry()} is
	 * {@link RetryAdvice#SAME_KEY}
	 */
	public @Nullable Duration retryAfter() {
		return null;
	}

	/**
	 * Returns a short summary, which is the same for every exception with this
	 * {@link #code()}.
	 * @return the title
	 */
	public final String title() {
		return this.title;
	}

	/**
	 * Returns the exception with its {@link #code()} and {@link #retry()}.
	 * @return type, message, code and retry
	 */
	@Override
	public final String toString() {
		return super.toString() + " [code=" + code() + ", retry=" + retry() + "]";
	}

}
