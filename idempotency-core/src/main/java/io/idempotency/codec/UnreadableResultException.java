package io.idempotency.codec;

/**
 * Thrown if a stored result cannot be decoded. The engine treats the result as not
 * stored.
 *
 * @since 0.1.0
 */
public final class UnreadableResultException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Creates the exception.
	 * @param message the problem, without the bytes
	 */
	public UnreadableResultException(String message) {
		super(message);
	}

	/**
	 * Creates the exception.
	 * @param message the problem, without the bytes
	 * @param cause the exception of the decoder
	 */
	public UnreadableResultException(String message, Throwable cause) {
		super(message, cause);
	}

}
