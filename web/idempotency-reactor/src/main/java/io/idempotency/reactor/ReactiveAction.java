package io.idempotency.reactor;

import io.idempotency.Internal;
import io.idempotency.engine.CallOutcome;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * The work of a guarded call that must not block. Its door translates the work for the
 * driver, as {@link io.idempotency.engine.GuardedAction} does for callers that may block;
 * an empty {@code Mono} is the value {@code null}. No method may block. For one call; the
 * methods are called one after the other, on any thread.
 *
 * @param <T> the result of the guarded work
 * @hidden
 */
@Internal
public interface ReactiveAction<T> {

	/**
	 * Is told that the call owns its key from now on, before {@link #run()} and before
	 * the recovery of an abandoned claim.
	 */
	default void acquired(ReactiveClaim claim) {
	}

	/**
	 * Returns the guarded work, which is subscribed once.
	 * @return the work; its end is its completion, and not its value
	 */
	Mono<T> run();

	/**
	 * Looks up the result in the business data. The driver asks only if the policy is
	 * recoverable.
	 * @return the result, empty if there is none
	 */
	default Mono<T> recover() {
		return Mono.empty();
	}

	/** Returns whether a failure of the work means "already done". */
	default boolean isDuplicate(Throwable failure) {
		return false;
	}

	/**
	 * Turns a stored result into the response for a duplicate.
	 * @return the result for the caller, {@code null} for none
	 * @throws Throwable what the caller gets instead: a remembered failure, or a signal
	 * of the door
	 */
	@Nullable T replay(StoredResult result) throws Throwable;

	/**
	 * Turns a result that was looked up into the response for a duplicate, where no claim
	 * is held.
	 */
	default @Nullable T replayRecovered(T value) {
		return value;
	}

	/**
	 * Is told the value of the work, or the value that was looked up.
	 * @param value the value, {@code null} if the work has completed empty
	 * @param recovered whether the value was looked up, so that it is answered as a
	 * replay
	 * @return how the call has ended; an exception of this method makes the ending
	 * {@link CallOutcome.SuccessWithoutResult}, never a failure of the call
	 */
	CallOutcome returned(@Nullable T value, boolean recovered);

	/**
	 * Is told that the work has failed.
	 * @param failure the failure, which the caller gets
	 * @return how the call has ended
	 */
	CallOutcome threw(Throwable failure);

	/**
	 * Is told that the work was cancelled or has timed out, which says nothing about how
	 * far it has come.
	 */
	default CallOutcome gaveUp(Throwable failure) {
		return CallOutcome.OUT_OF_SIGHT;
	}

}
