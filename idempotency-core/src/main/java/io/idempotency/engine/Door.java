package io.idempotency.engine;

import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Where a guarded call comes in: translates one call for the engine, which decides. For
 * one call, not thread-safe.
 *
 * @param <T> what the guarded method gives
 * @since 0.1.0
 */
public interface Door<T> {

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
	 * The call owns its key from now on: called before {@link #run()} and before the
	 * recovery of an abandoned claim.
	 * @param execution the handle by which the door ends the claim, at once or later
	 */
	void acquired(Execution execution);

	/**
	 * The guarded method has returned, or its result was recovered: the door completes
	 * the execution now, or sees to it that it will be. What this throws is never a
	 * failure of the call: the execution is then completed as a tombstone.
	 * @param execution the handle, {@code null} where no claim is held: the result of a
	 * tombstone was recovered
	 * @param value the result
	 * @param recovered whether it was looked up: it is answered as a replay
	 * @return what the caller gets
	 */
	@Nullable T returned(@Nullable Execution execution, @Nullable T value, boolean recovered);

	/**
	 * The guarded method, or the recovery, has thrown: the door fails the execution now,
	 * or sees to it that its end is decided later.
	 * @param execution the handle
	 * @param failure the exception, which the caller gets
	 */
	void threw(Execution execution, Throwable failure);

}
