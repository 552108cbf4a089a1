package io.idempotency;

/**
 * The replay of a failure that {@link FailureMode#REMEMBER} kept: the first call threw,
 * and this call was not run.
 * <p>
 * Carries the type and the message of the first exception, never the exception itself, so
 * that nothing but text comes out of a store. It is the application's failure and
 * therefore no {@link IdempotencyException}.
 *
 * @since 0.1.0
 */
public final class RememberedFailureException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String type;

	/**
	 * Creates the exception.
	 * @param type fully qualified class name of the first exception
	 * @param message message of the first exception, empty when it had none
	 */
	public RememberedFailureException(String type, String message) {
		super(message);
		this.type = type;
	}

	/**
	 * Fully qualified class name of the exception that the first call threw.
	 * @return the type
	 */
	public String type() {
		return this.type;
	}

}
