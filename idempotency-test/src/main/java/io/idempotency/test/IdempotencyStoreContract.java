package io.idempotency.test;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;

/**
 * The contract of an {@link IdempotencyStore}: tests for each cell of its state table,
 * for races between callers and nodes, for unusual values, and for the operations for
 * operators.
 * <p>
 * A store fulfills the contract if a subclass of this class passes. Every test uses
 * separate keys, so the store need not be cleared. The contract needs JUnit Jupiter 5.12
 * or newer:
 *
 * <pre class="code">
 * class AcmeIdempotencyStoreTests extends IdempotencyStoreContract {
 *
 *     private final MutableClock clock = new MutableClock();
 *
 *     private final AcmeIdempotencyStore store = new AcmeIdempotencyStore(this.clock);
 *
 *     &#064;Override
 *     public IdempotencyStore store() {
 *         return this.store;
 *     }
 *
 *     &#064;Override
 *     public void elapse(Duration duration) {
 *         this.clock.advance(duration);
 *     }
 *
 * }
 * </pre>
 *
 * For a store with a server, override {@link #anotherStore()} with a second client and
 * {@link #tick()} with a few hundred milliseconds, and wait in {@link #elapse(Duration)}.
 * Tests that use many threads have the tag {@code storm}. Tests that may fail only once
 * in many runs have the tag {@code race}.
 *
 * @since 0.1.0
 */
public abstract class IdempotencyStoreContract
		implements AbsentRecordRules, InProgressRules, RenewalRules, AbandonedRules, OrphanedRecordRules, ExecutedRules,
		CompletedRecordRules, RejectModeRules, TokenRules, ValueRules, RaceRules, AdminRules, FindRules, ModelRules {

	/**
	 * Returns the store to test. It must retain its data during one test.
	 * @return the store
	 */
	@Override
	public abstract IdempotencyStore store();

	/**
	 * Returns an independent instance with the same data, like the store of another node.
	 * The default is the {@link #store()}, for a store whose data is bound to its
	 * instance.
	 * @return the store
	 */
	@Override
	public IdempotencyStore anotherStore() {
		return store();
	}

	/**
	 * Advances the time of the store, by moving its clock or by waiting. Do not change
	 * the times of the records instead, because the fencing tokens of the callers are
	 * derived from that clock.
	 * @param duration the minimum time to pass; tests fail if it is exceeded by more than
	 * one {@link #tick()}
	 */
	@Override
	public abstract void elapse(Duration duration);

	/**
	 * Returns the shortest lease and retention of the tests. If {@link #elapse(Duration)}
	 * waits, it must be several times the duration of one operation. A test waits for at
	 * most twelve of these durations.
	 * @return the duration, by default 30 seconds, which is also the maximum
	 */
	@Override
	public Duration tick() {
		return Duration.ofSeconds(30);
	}

	/**
	 * Returns how often each concurrency test and each race runs, by default 20. More
	 * rounds detect rarer races. If a store is tested with many settings, use fewer
	 * rounds for most of them.
	 * @return the number of rounds, at least 1
	 */
	@Override
	public int rounds() {
		return 20;
	}

	/**
	 * Returns whether the store overrides {@link IdempotencyStore#find} and finds every
	 * result.
	 * @return whether results are found, by default {@code true}
	 */
	@Override
	public boolean findsResults() {
		return true;
	}

}
