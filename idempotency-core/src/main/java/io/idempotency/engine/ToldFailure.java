package io.idempotency.engine;

import io.idempotency.Internal;

/**
 * The cause of a replayed failure whose door keeps what it has told the first client. It
 * has no stack trace: nothing has failed again. Immutable.
 *
 * @hidden
 */
@Internal
public final class ToldFailure extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String text;

	/**
	 * Creates the cause.
	 * @param text what was told, as the door has written it; never in a message
	 */
	public ToldFailure(String text) {
		super("The first client was told of this failure", null, false, false);
		this.text = text;
	}

	/** Returns what was told. */
	public String text() {
		return this.text;
	}

}
