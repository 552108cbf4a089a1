package io.idempotency;

/**
 * The replay of a failure that {@link FailureMode#REMEMBER} kept: the first call threw,
 * and this call was not run.
 * <p>
 * This exception carries the type and the message of the first exception, never the first
 * exception itself, so that nothing but text comes out of a store. The failure is the
 * application's own, therefore this class is no {@link IdempotencyException}.
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
	 * @param message message of the first exception, empty when it had none
	 */
	public RememberedFailureException(String type, String message) {
		this(type, message, 0);
	}

	/**
	 * Creates the exception of a failure that answers with an HTTP status.
	 * @param type fully qualified class name of the first exception
	 * @param message message of the first exception, empty when it had none
	 * @param status the HTTP status that the first exception asks for, 0 for none
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
	 * Returns the HTTP status that the first exception asked for; the replay has the same
	 * status.
	 * @return the status, 0 if the first exception asked for none
	 */
	public int status() {
		return this.status;
	}

}
