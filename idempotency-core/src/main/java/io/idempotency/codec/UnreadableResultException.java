package io.idempotency.codec;

/**
 * A stored result cannot be decoded; the engine treats it as not kept.
 *
 * @since 0.1.0
 */
public final class UnreadableResultException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message what cannot be read; never the bytes
	 */
	public UnreadableResultException(String message) {
		super(message);
	}

	/**
	 * Creates the exception.
	 * @param message what cannot be read; never the bytes
	 * @param cause the exception of the decoder
	 */
	public UnreadableResultException(String message, Throwable cause) {
		super(message, cause);
	}

}
