package io.idempotency.test;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;

/**
 * The methods that the rules of the contract need from the test class of a store.
 */
interface StoreUnderTest {

	/** Returns the store. */
	IdempotencyStore store();

	/** Returns an independent store over the same data, as another node has it. */
	IdempotencyStore anotherStore();

	/**
	 * Lets time pass in the store.
	 * @param duration how much time passes at least; it must not be much more
	 */
	void elapse(Duration duration);

	/** Returns the shortest lease and retention that tests use. */
	Duration tick();

	/**
	 * Returns how often a race is run.
	 * @return the number of rounds
	 */
	int rounds();

	/** Returns whether the store finds results. */
	boolean findsResults();

}
