package io.idempotency.interceptor;

import io.idempotency.Internal;

/**
 * How a guarded method gives its result.
 *
 * @hidden
 */
@Internal
public enum ResultForm {

	/** As it is. */
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
