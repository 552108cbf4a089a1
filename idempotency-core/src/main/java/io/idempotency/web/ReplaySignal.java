package io.idempotency.web;

/**
 * Leaves the handler without running it: the filter writes the stored answer. Carries no
 * stack.
 */
final class ReplaySignal extends RuntimeException {

	private static final long serialVersionUID = 1L;

	ReplaySignal() {
		super("The stored answer is replayed", null, false, false);
	}

	/** Whether an exception is the signal, or was made of it. */
	static boolean isCauseOf(Throwable thrown) {
		Throwable cause = thrown;
		for (int i = 0; cause != null && i < 16; i++) {
			if (cause instanceof ReplaySignal) {
				return true;
			}
			cause = cause.getCause();
		}
		return false;
	}

}
