package io.idempotency.web;

import io.idempotency.store.Causes;

/**
 * Leaves the handler without running it. The filter then writes the stored answer, or the
 * answer of the container stands. The signal carries no stack trace.
 */
final class ReplaySignal extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ReplaySignal() {
		super("The stored answer is replayed", null, false, false);
	}

	/** Returns whether an exception is the signal or has it as a cause. */
	static boolean isCauseOf(Throwable thrown) {
		return Causes.of(thrown).anyMatch(ReplaySignal.class::isInstance);
	}

}
