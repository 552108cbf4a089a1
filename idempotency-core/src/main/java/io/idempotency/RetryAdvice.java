package io.idempotency;

import java.util.Locale;

/**
 * Advice for a client after a rejected call. It is part of the public contract.
 *
 * @since 0.1.0
 */
public enum RetryAdvice {

	/** Send the same request with the same key, after {@code Retry-After} if present. */
	SAME_KEY,

	/** This key can never succeed. Use a new key or a new token. */
	NEW_KEY,

	/** The work is done or must not be repeated. Look up the outcome. */
	NEVER,

	/** Correct the request. */
	FIX_REQUEST;

	private final String value = name().toLowerCase(Locale.ROOT).replace('_', '-');

	/**
	 * Returns the advice as used in problem details, for example {@code same-key}.
	 * @return the value
	 */
	public String value() {
		return this.value;
	}

	/**
	 * Returns the same text as {@link #value()}.
	 * @return the value
	 */
	@Override
	public String toString() {
		return this.value;
	}

}
