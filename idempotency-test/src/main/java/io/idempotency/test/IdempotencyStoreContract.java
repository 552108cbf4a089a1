package io.idempotency.test;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;

/**
 * The contract of every {@link IdempotencyStore}: a test for each cell of its state
 * table, for races between callers and nodes, for odd values, and for what a store offers
 * to operators.
 * <p>
 * A store fulfils the contract if a subclass of this class passes. Every test uses keys
 * of its own, so the store need not be emptied. The contract needs JUnit Jupiter 5.12 or
 * newer:
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
 * The test of a store with a server overrides {@link #anotherStore()} with a second
 * client and {@link #tick()} with a few hundred milliseconds, and waits in
 * {@link #elapse(Duration)}. Tests that keep many threads busy have the tag
 * {@code storm}; those whose failure may be one in many runs have the tag {@code race}.
 *
 * @since 0.1.0
 */
public abstract class IdempotencyStoreContract
		implements AbsentRecordRules, InProgressRules, RenewalRules, AbandonedRules, OrphanedRecordRules, ExecutedRules,
		CompletedRecordRules, RejectModeRules, TokenRules, ValueRules, RaceRules, AdminRules, FindRules, ModelRules {

	/**
	 * Returns the store to test. It must keep its data throughout one test.
	 * @return the store
	 */
	@Override
	public abstract IdempotencyStore store();

	/**
	 * Returns an independent instance over the same data, as another node has it. By
	 * default this is the {@link #store()} itself, which suits a store whose data are
	 * bound to its instance.
	 * @return the store
	 */
	@Override
	public IdempotencyStore anotherStore() {
		return store();
	}

	/**
	 * Lets time pass in the store: it moves the clock that the store reads, or waits. It
	 * must not make the records older instead, because the fencing tokens that callers
	 * hold come from that clock.
	 * @param duration how much time passes at least; tests fail if it is more than one
	 * {@link #tick()} longer
	 */
	@Override
	public abstract void elapse(Duration duration);

	/**
	 * Returns the shortest lease and retention that tests use. For a store that really
	 * waits, it must be several times as long as one verb takes. A test lets at most
	 * twelve of these durations pass.
	 * @return the duration, 30 seconds unless overridden, and never longer
	 */
	@Override
	public Duration tick() {
		return Duration.ofSeconds(30);
	}

	/**
	 * Returns how often each storm and each race is run, 20 unless overridden. A race
	 * that a store loses once in many runs shows with more rounds; a store that is tested
	 * with many settings may take fewer for most of them.
	 * @return the number of rounds, at least 1
	 */
	@Override
	public int rounds() {
		return 20;
	}

	/**
	 * Returns whether the store overrides {@link IdempotencyStore#find}, and so finds
	 * every result.
	 * @return whether it does, {@code true} unless overridden
	 */
	@Override
	public boolean findsResults() {
		return true;
	}

}
