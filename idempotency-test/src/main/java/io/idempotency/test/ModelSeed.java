package io.idempotency.test;

import org.jspecify.annotations.Nullable;

/**
 * The seed of the random operations of {@link ModelRules}: a new seed for each run, or
 * the value of {@code -Didempotency.contract.seed=}.
 */
final class ModelSeed {

	private static final String PROPERTY = "idempotency.contract.seed";

	private ModelSeed() {
	}

	static long get() {
		return parse(System.getProperty(PROPERTY));
	}

	/**
	 * Parses the value of the property. An invalid seed must not be replaced, because a
	 * run with another seed does not repeat the failure.
	 * @param value the value, or {@code null} if the property is not set
	 * @return the seed
	 * @throws IllegalArgumentException if the value is not a whole number
	 */
	static long parse(@Nullable String value) {
		if (value == null) {
			return System.nanoTime();
		}
		try {
			return Long.parseLong(value);
		}
		catch (NumberFormatException ex) {
			throw new IllegalArgumentException(
					"-D" + PROPERTY + " must be the whole number that the failure names, not '" + value + "'", ex);
		}
	}

}
