package io.idempotency.test;

import java.time.Duration;

import io.idempotency.store.IdempotencyStore;

/**
 * The law of every {@link IdempotencyStore}: a test for each cell of its state table, for
 * races between callers and nodes, and for odd values.
 * <p>
 * A store passes if a subclass of this class does. Every test uses keys of its own, so
 * that the store need not be emptied. JUnit Jupiter 5.12 or newer:
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
 * A store with a server overrides {@link #anotherStore()} with a second client,
 * {@link #tick()} with a few hundred milliseconds, and waits in
 * {@link #elapse(Duration)}. Tests that keep many threads busy have the tag
 * {@code storm}; those whose failure may be one in many runs have the tag {@code race}.
 *
 * @since 0.1.0
 */
public abstract class IdempotencyStoreContract implements AbsentRules, RunningRules, RenewalRules, AbandonedRules,
		NobodysRules, ExecutedRules, DoneRules, OnceRules, TokenRules, ValueRules, RaceRules {

	/**
	 * The store to test; the same data throughout one test.
	 * @return the store
	 */
	@Override
	public abstract IdempotencyStore store();

	/**
	 * An independent instance over the same data, as another node has it; the
	 * {@link #store()} itself unless overridden, for a store that is bound to its
	 * instance.
	 * @return the store
	 */
	@Override
	public IdempotencyStore anotherStore() {
		return store();
	}

	/**
	 * Lets time pass in the store: moves the clock it reads, or waits. Records must not
	 * be made older instead, because the fences that callers hold are readings of that
	 * clock.
	 * @param duration how much at least; more than one {@link #tick()} longer fails tests
	 */
	@Override
	public abstract void elapse(Duration duration);

	/**
	 * The shortest lease and retention worth using: several times the duration of one
	 * verb, for a store that really waits. A test lets at most twelve of them pass.
	 * @return the duration, 30 seconds unless overridden, at most that
	 */
	@Override
	public Duration tick() {
		return Duration.ofSeconds(30);
	}

}
