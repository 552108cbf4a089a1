package io.idempotency;

/**
 * An annotation, its wiring or a store is wrong. The library throws this exception at
 * start-up or, for a bean that is created later, at the creation of the bean.
 * <p>
 * {@link #getMessage()} says what is wrong and where, {@link #action()} says what to do.
 *
 * @since 0.1.0
 */
public final class IdempotencyConfigurationException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final String action;

	/**
	 * Creates the exception.
	 * @param description what is wrong, and where
	 * @param action what to do about the mistake
	 */
	public IdempotencyConfigurationException(String description, String action) {
		super(description);
		this.action = action;
	}

	/**
	 * Creates the exception with the error that revealed the mistake.
	 * @param description what is wrong, and where
	 * @param action what to do about the mistake
	 * @param cause the error
	 */
	public IdempotencyConfigurationException(String description, String action, Throwable cause) {
		super(description, cause);
		this.action = action;
	}

	/**
	 * Returns what to do about the mistake.
	 * @return the cure, a sentence
	 */
	public String action() {
		return this.action;
	}

}
