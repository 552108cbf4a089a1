package io.idempotency.store.redis;

/**
 * A script surely did not leave and never will, so that it surely was not applied.
 */
final class NotSentException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final RuntimeException reason;

	NotSentException(RuntimeException reason) {
		super(reason);
		this.reason = reason;
	}

	/** What the client said. */
	RuntimeException reason() {
		return this.reason;
	}

}
