package io.idempotency;

import org.jspecify.annotations.Nullable;

/**
 * A guarded call was not run, and this says why: the root of every answer the library
 * gives in place of the method's own.
 * <p>
 * Visible to {@code @ExceptionHandler}; where the application has none, the HTTP door
 * renders it as {@code application/problem+json} with {@link #status()} and
 * {@link #code()}.
 *
 * @since 0.1.0
 */
public abstract sealed class IdempotencyException extends RuntimeException permits IdempotencyKeyMissingException,
		IdempotencyKeyInvalidException, IdempotencyTokenUnknownException, IdempotencyKeyReusedException,
		IdempotencyInProgressException, IdempotencyDuplicateException, IdempotencyResultUnavailableException,
		IdempotencyOutcomeUnknownException, IdempotencyBodyTooLargeException, IdempotencyStoreUnavailableException {

	private static final long serialVersionUID = 1L;

	private final String operation;

	private final String code;

	private final int status;

	private final String title;

	IdempotencyException(String operation, int status, String code, String title, String message,
			@Nullable Throwable cause) {
		super(message, cause);
		this.operation = operation;
		this.status = status;
		this.code = code;
		this.title = title;
	}

	IdempotencyException(String operation, int status, String code, String title, String message) {
		super(message);
		this.operation = operation;
		this.status = status;
		this.code = code;
		this.title = title;
	}

	/**
	 * Name of the guarded operation.
	 * @return the operation, never the key or the payload
	 */
	public final String operation() {
		return this.operation;
	}

	/**
	 * Machine-readable reason, e.g. {@code key-missing}; part of the public contract.
	 * @return the code
	 */
	public final String code() {
		return this.code;
	}

	/**
	 * HTTP status that answers this exception, e.g. 409.
	 * @return the status code
	 */
	public final int status() {
		return this.status;
	}

	/**
	 * Short summary that is the same for every occurrence of the {@link #code()}.
	 * @return the title
	 */
	public final String title() {
		return this.title;
	}

}
