package io.idempotency.reactor;

import io.idempotency.Internal;
import io.idempotency.engine.CallOutcome;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The work of a guarded call that must not block. The adapter of the call implements it,
 * as {@link io.idempotency.engine.GuardedAction} for blocking callers. An empty
 * {@code Mono} stands for the value {@code null}. The methods must not block. An action
 * serves one call. Its methods are called one after the other, on any thread.
 *
 * @param <T> the result of the guarded work
 * @hidden
 */
@Internal
public interface ReactiveAction<T> {

	/**
	 * Called when the call acquired its key, before {@link #run()} and before the
	 * recovery of an abandoned claim.
	 */
	default void acquired(ReactiveClaim claim) {
	}

	/**
	 * Returns the guarded work, which is subscribed once.
	 * @return the work, which ends when it completes and not when it emits its value
	 */
	Mono<T> run();

	/**
	 * Looks up the result in the business data. The engine calls this method only if the
	 * policy is recoverable.
	 * @return the result, empty if it was not found
	 */
	default Mono<T> recover() {
		return Mono.empty();
	}

	/** Returns whether a failure of the work means that the work was already done. */
	default boolean isDuplicate(Throwable failure) {
		return false;
	}

	/**
	 * Converts a stored result to the result of a duplicate.
	 * @return the result for the caller, may be {@code null}
	 * @throws Throwable the remembered failure, or a signal of the adapter
	 */
	@Nullable T replay(StoredResult result) throws Throwable;

	/**
	 * Converts a looked-up result to the result of a duplicate that does not hold a
	 * claim.
	 */
	default @Nullable T replayRecovered(T value) {
		return value;
	}

	/**
	 * Called with the value of the work or the value that was looked up.
	 * @param value the value, {@code null} if the work completed empty
	 * @param recovered whether the value was looked up, so that it is returned as a
	 * replay
	 * @return the outcome of the call. If this method throws an exception, the outcome is
	 * {@link CallOutcome.SuccessWithoutResult}, and the call does not fail
	 */
	CallOutcome returned(@Nullable T value, boolean recovered);

	/**
	 * Called when the work failed.
	 * @param failure the failure, which the caller receives
	 * @return the outcome of the call
	 */
	CallOutcome threw(Throwable failure);

	/** Called when the work was cancelled or timed out. Its progress is unknown. */
	default CallOutcome gaveUp(Throwable failure) {
		return CallOutcome.OUT_OF_SIGHT;
	}

}
