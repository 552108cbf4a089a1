package io.idempotency;

/**
 * The replay of a failure that was stored with {@link FailureMode#REMEMBER}. The first
 * call threw an exception, and this call was not executed.
 * <p>
 * This exception contains the type and the message of the first exception as text, so
 * that no object is deserialized from a store. It is not an {@link IdempotencyException},
 * because the failure is a failure of the application.
 *
 * @since 0.1.0
 */
public final class RememberedFailureException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String type;

	private final int status;

	/**
	 * Creates the exception.
	 * @param type fully qualified class name of the first exception
	 * @param message message of the first exception, empty if it had no message
	 */
	public RememberedFailureException(String type, String message) {
		this(type, message, 0);
	}

	/**
	 * Creates the exception for a failure with an HTTP status.
	 * @param type fully qualified class name of the first exception
	 * @param message message of the first exception, empty if it had no message
	 * @param status the HTTP status of the first exception, 0 if it has no status
	 */
	public RememberedFailureException(String type, String message, int status) {
		super(message);
		this.type = type;
		this.status = status;
	}

	/**
	 * Returns the fully qualified class name of the exception that the first call threw.
	 * @return the type
	 */
	public String type() {
		return this.type;
	}

	/**
	 * Returns the HTTP status of the first exception. The replay has the same status.
	 * @return the status, 0 if the first exception has no status
	 */
	public int status() {
		return this.status;
	}

}
