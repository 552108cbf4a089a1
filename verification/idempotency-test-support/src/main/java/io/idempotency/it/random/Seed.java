package io.idempotency.it.random;

import java.util.Random;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The seed of a test that leaves something to chance: another one each time, which the
 * log shows, or that of {@code -Didempotency.tests.seed}.
 */
public final class Seed {

	private static final String PROPERTY = "idempotency.tests.seed";

	private static final Logger logger = LoggerFactory.getLogger(Seed.class);

	private Seed() {
	}

	/**
	 * Makes the chance of a test.
	 * @param test who wants it
	 * @return the same numbers for the same seed
	 */
	public static Random random(Class<?> test) {
		long seed = Long.getLong(PROPERTY, System.nanoTime());
		logger.info("{} with -D{}={}", test.getSimpleName(), PROPERTY, seed);
		return new Random(seed);
	}

}
