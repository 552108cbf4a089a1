package io.idempotency.store.redis;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

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

	/** Returns the exception for a failure that came before a script could leave. */
	static NotSentException because(Throwable failure) {
		boolean wrapped = failure instanceof CompletionException || failure instanceof ExecutionException;
		Throwable cause = (wrapped && failure.getCause() != null) ? failure.getCause() : failure;
		if (cause instanceof NotSentException notSent) {
			return notSent;
		}
		return new NotSentException((cause instanceof RuntimeException ex) ? ex : new CompletionException(cause));
	}

	/** Returns the exception of the client. */
	RuntimeException reason() {
		return this.reason;
	}

}
