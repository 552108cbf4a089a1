package io.idempotency.test;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;

/**
 * The methods of a store's test class that the rules of the contract use.
 */
interface StoreUnderTest {

	/** Returns the store. */
	IdempotencyStore store();

	/**
	 * Returns an independent store with the same data, like the store of another node.
	 */
	IdempotencyStore anotherStore();

	/**
	 * Advances the time of the store.
	 * @param duration the minimum time to pass, which must not be exceeded by much
	 */
	void elapse(Duration duration);

	/** Returns the shortest lease and retention of the tests. */
	Duration tick();

	/**
	 * Returns how often a race runs.
	 * @return the number of rounds
	 */
	int rounds();

	/** Returns whether the store finds results. */
	boolean findsResults();

}
