package io.idempotency.engine;

import java.util.concurrent.CompletionStage;

import io.idempotency.Internal;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * What a guarded call does, translated by its door for the engine, which decides. For one
 * call, not thread-safe.
 *
 * @param <T> what the guarded method gives
 * @hidden
 * @since 0.1.0
 */
@Internal
public interface GuardedAction<T> {

	/**
	 * The call owns its key from now on: told before {@link #run()} and before the
	 * recovery of an abandoned claim.
	 * @param claim the claim
	 */
	default void acquired(OwnedClaim claim) {
	}

	/**
	 * Runs the guarded method.
	 * @return its result
	 * @throws Throwable whatever it throws
	 */
	@Nullable T run() throws Throwable;

	/**
	 * Looks the result up in the business data; only asked if the policy is recoverable.
	 * @return the result, or {@code null} if there is none
	 * @throws Throwable whatever the look-up throws
	 */
	@Nullable T recover() throws Throwable;

	/**
	 * Whether an exception of the guarded method means "already done".
	 * @param failure the exception
	 * @return whether it does
	 */
	boolean isDuplicate(Throwable failure);

	/**
	 * Gives a stored result.
	 * @param result the result
	 * @return what the caller gets
	 * @throws Throwable what the caller gets instead: a remembered failure, a signal
	 */
	@Nullable T replay(StoredResult result) throws Throwable;

	/**
	 * Gives a result that was looked up where no claim is held: that of a tombstone.
	 * @param value the result
	 * @return what the caller gets
	 */
	default @Nullable T replayRecovered(T value) {
		return value;
	}

	/**
	 * Whether the work commits by itself, apart from the transaction in which the call is
	 * made: a rollback of that undoes nothing of it.
	 * @return whether it does
	 */
	default boolean isApart() {
		return isAsync();
	}

	/**
	 * Whether results are futures, whose completion is the result: they are then handed
	 * on as another future, which completes when the claim has ended.
	 * @return whether {@code T} is a {@link java.util.concurrent.CompletableFuture} or
	 * {@link CompletionStage}
	 */
	default boolean isAsync() {
		return false;
	}

	/**
	 * The guarded method has returned a future.
	 * @param answer what the caller gets
	 */
	default void deferred(CompletionStage<?> answer) {
	}

	/**
	 * The guarded method has given its value, or that was looked up.
	 * @param value the value, of a future the one inside
	 * @param recovered whether it was looked up, so that it is answered as a replay
	 * @return how the call has ended; what this throws makes it
	 * {@link Ending.DoneUnkept}, never a failure of the call
	 */
	Ending returned(@Nullable Object value, boolean recovered);

	/**
	 * The guarded method has thrown, or its future has failed.
	 * @param failure the exception, which the caller gets
	 * @return how the call has ended
	 */
	Ending threw(Throwable failure);

	/**
	 * The future of the guarded method was cancelled or has timed out: its owner gave up,
	 * which says nothing about the work.
	 * @param failure the exception, which the caller gets
	 * @return how the call has ended
	 */
	default Ending gaveUp(Throwable failure) {
		return Ending.OUT_OF_SIGHT;
	}

}
