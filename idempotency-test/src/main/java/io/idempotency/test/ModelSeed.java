package io.idempotency.test;

import org.jspecify.annotations.Nullable;

/**
 * The seed of the random verbs of {@link ModelRules}: a new one for each run, or that of
 * {@code -Didempotency.contract.seed=}.
 */
final class ModelSeed {

	private static final String PROPERTY = "idempotency.contract.seed";

	private ModelSeed() {
	}

	static long get() {
		return parse(System.getProperty(PROPERTY));
	}

	/**
	 * Reads the value of the property. A seed that cannot be read must not be replaced: a
	 * run with another seed shows nothing about the failure that was to be repeated.
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
