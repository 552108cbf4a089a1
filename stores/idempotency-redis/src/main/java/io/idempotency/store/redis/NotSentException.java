package io.idempotency.store.redis;

/**
 * A script surely did not leave and never will, so it was not applied.
 */
final class NotSentException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final RuntimeException reason;

	NotSentException(RuntimeException reason) {
		super(reason);
		this.reason = reason;
	}

	/** Returns the exception of the client. */
	RuntimeException reason() {
		return this.reason;
	}

}
