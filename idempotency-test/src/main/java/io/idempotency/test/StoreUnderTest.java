package io.idempotency.test;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;

/**
 * What the rules of the contract need from the class that has a store to test.
 */
interface StoreUnderTest {

	/**
	 * The store.
	 * @return the store
	 */
	IdempotencyStore store();

	/**
	 * An independent store over the same data, as another node has it.
	 * @return the store
	 */
	IdempotencyStore anotherStore();

	/**
	 * Lets time pass in the store.
	 * @param duration how much at least, and not much more
	 */
	void elapse(Duration duration);

	/**
	 * The shortest lease and retention worth using.
	 * @return the duration
	 */
	Duration tick();

}
