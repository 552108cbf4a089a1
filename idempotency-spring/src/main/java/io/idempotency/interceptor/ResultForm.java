package io.idempotency.interceptor;

import io.idempotency.Internal;

/**
 * The form in which a guarded method returns its result.
 *
 * @hidden
 */
@Internal
public enum ResultForm {

	/** The value itself. */
	VALUE,

	/** Inside a {@link java.util.concurrent.CompletionStage}. */
	FUTURE,

	/** As the one value of a publisher, or of a {@code suspend} function. */
	MONO,

	/** As the values of a publisher, which are collected. */
	FLUX;

	/** Returns whether the work of a call begins when its result is subscribed to. */
	public boolean isSubscribed() {
		return this == MONO || this == FLUX;
	}

}
