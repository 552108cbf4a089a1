package io.idempotency;

/**
 * Thrown if an annotation, its configuration or a store is invalid. It is thrown at
 * startup or, for a bean that is created later, when the bean is created.
 * <p>
 * {@link #getMessage()} describes the problem and its location, {@link #action()} the
 * fix.
 *
 * @since 0.1.0
 */
public final class IdempotencyConfigurationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String action;

	/**
	 * Creates the exception.
	 * @param description the problem and its location
	 * @param action the fix
	 */
	public IdempotencyConfigurationException(String description, String action) {
		super(description);
		this.action = action;
	}

	/**
	 * Creates the exception with a cause.
	 * @param description the problem and its location
	 * @param action the fix
	 * @param cause the cause
	 */
	public IdempotencyConfigurationException(String description, String action, Throwable cause) {
		super(description, cause);
		this.action = action;
	}

	/**
	 * Returns the fix.
	 * @return the fix, a sentence
	 */
	public String action() {
		return this.action;
	}

}
