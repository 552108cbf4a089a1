package io.idempotency;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown if the first call with this key is in progress.
 * <p>
 * HTTP 409, code {@code in-progress}.
 *
 * @since 0.1.0
 */
public final class IdempotencyInProgressException extends IdempotencyException {

	private static final long serialVersionUID = 1L;

	private final Duration retryAfter;

	/**
	 * Creates the exception.
	 * @param operation the guarded operation
	 * @param retryAfter how long to wait before the next try
	 */
	public IdempotencyInProgressException(String operation, Duration retryAfter) {
		super(operation, 409, "in-progress", RetryAdvice.SAME_KEY, "A request is outstanding for this Idempotency-Key",
				"The first request of '" + operation + "' with this key is in progress. Wait "
						+ Math.max(1, (retryAfter.toMillis() + 999) / 1000) + " s and retry it unchanged");
		this.retryAfter = retryAfter;
	}

	@Override
	public @Nullable Duration retryAfter() {
		return isRemembered() ? null : this.retryAfter;
	}

}
