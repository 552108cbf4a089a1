package io.idempotency.engine;

import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.engine.WorkTransactions.WorkOutcomes;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * The work of a guarded call. Its adapter translates the work for the engine, and the
 * engine decides. For one call, not thread-safe.
 *
 * @param <T> the result of the guarded method
 * @hidden
 */
@Internal
public interface GuardedAction<T> {

	/**
	 * Notes that the call owns its key from now on. The engine calls this method before
	 * {@link #run()} and before the recovery of an abandoned claim.
	 */
	default void acquired(OwnedClaim claim) {
	}

	/**
	 * Runs the guarded method.
	 * @return its result
	 * @throws Throwable any exception of the method
	 */
	@Nullable T run() throws Throwable;

	/**
	 * Offers the open transaction that the call began for its work and its record. The
	 * guarded method returned, and {@link #returned} was called. An adapter that accepts
	 * the transaction ends it later, with its result in it. If this method throws, the
	 * transaction is rolled back, and the call fails with that exception.
	 * @return whether the adapter ends the transaction; if not, it is committed at once
	 */
	default boolean takes(TransactionHandle work) {
		return false;
	}

	/**
	 * Looks up the result in the business data. The engine calls this method only if the
	 * policy is recoverable.
	 * @return the result, or {@code null} if the lookup found no result
	 * @throws Throwable any exception of the lookup
	 */
	@Nullable T recover() throws Throwable;

	/** Returns whether an exception of the guarded method means "already done". */
	boolean isDuplicate(Throwable failure);

	/**
	 * Turns a stored result into the result for a duplicate.
	 * @throws Throwable the exception that the caller receives instead: a remembered
	 * failure, or a signal of the adapter
	 */
	@Nullable T replay(StoredResult result) throws Throwable;

	/**
	 * Turns a result that was looked up into the result for a duplicate. The engine calls
	 * this method when the call has no claim: the record is completed without a stored
	 * result, or its result cannot be read.
	 */
	default @Nullable T replayRecovered(T value) {
		return value;
	}

	/**
	 * Returns the open transaction that the work is a part of. The call is done when that
	 * transaction committed. Work that continues after the method returned is not a part
	 * of it.
	 * @param current the innermost transaction of the calling thread, {@code null}
	 * without a transaction
	 * @return the transaction, {@code null} if the work commits by itself
	 */
	default @Nullable SurroundingTransaction surrounding(@Nullable SurroundingTransaction current) {
		return current;
	}

	/**
	 * Returns whether the guarded method returns futures. The caller then receives
	 * another future, which completes after the claim ended.
	 * @return whether {@code T} is a {@link java.util.concurrent.CompletableFuture} or
	 * {@link CompletionStage}
	 */
	default boolean isAsync() {
		return false;
	}

	/**
	 * Notes that the guarded method returned a future.
	 * @param answer the future that the caller receives
	 * @return whether the adapter {@linkplain OwnedClaim#detach() detaches} the claim
	 * when the caller disconnects. If not, the renewal of the claim is bounded from now
	 * on
	 */
	default boolean deferred(CompletionStage<?> answer) {
		return false;
	}

	/**
	 * Returns the outcome for the value of the guarded method, or for the value that was
	 * looked up.
	 * @param value the value; if the method returned a future, the value inside
	 * @param recovered whether the value was looked up, so that it is returned as a
	 * replay
	 * @return the outcome of the call. If this method throws, the outcome is
	 * {@link CallOutcome.SuccessWithoutResult}, never a failure of the call
	 */
	CallOutcome returned(@Nullable Object value, boolean recovered);

	/**
	 * Returns the outcome after the guarded method threw an exception or its future
	 * failed.
	 * @param failure the exception, which the caller receives
	 * @return the outcome of the call
	 */
	CallOutcome threw(Throwable failure);

	/**
	 * Returns the outcome after the guarded method threw an exception although its
	 * transaction committed.
	 * @param failure the exception, which the caller receives
	 * @return the outcome of the call
	 */
	default CallOutcome threwAfterCommit(Throwable failure) {
		return new CallOutcome.SuccessWithoutResult(failure);
	}

	/**
	 * Returns the outcome after the future of the guarded method was cancelled or timed
	 * out. That does not show whether the work was done.
	 * @param failure the exception, which the caller receives
	 * @return the outcome of the call
	 */
	default CallOutcome gaveUp(Throwable failure) {
		return CallOutcome.OUT_OF_SIGHT;
	}

	/**
	 * Work that returned and whose transaction is open. The adapter that
	 * {@linkplain GuardedAction#takes(TransactionHandle) accepted} it ends the
	 * transaction once, on the thread of the work.
	 *
	 * @hidden
	 */
	interface TransactionHandle {

		/**
		 * Sends the changes in memory to the database, so that values that the database
		 * generates become visible.
		 * @throws RuntimeException the exception of the database
		 */
		void flush();

		/**
		 * Writes the record, with the result if the call ended by now, and commits.
		 * @throws RuntimeException the exception of the commit, or of the record; the
		 * transaction was rolled back, or its outcome is unknown
		 */
		void commit();

		/**
		 * Looks up the result after a failed commit if the failure means that the work
		 * was already done.
		 * @param failure the exception of the commit
		 * @return the result, which was passed to the guarded action
		 * @throws Throwable the exception of the commit if it has another meaning, or the
		 * rejection without a result
		 */
		@Nullable Object recover(Throwable failure) throws Throwable;

		/**
		 * Rolls back because the work failed.
		 * @param failure the reason; a failure of the rollback is only added to it
		 */
		void rollback(Throwable failure);

	}

	/**
	 * The database transaction around a guarded call, which was open before the call.
	 * Until the transaction ends, the engine does not know whether the work of the call
	 * will be committed. For the thread of the transaction.
	 *
	 * @hidden
	 */
	interface SurroundingTransaction {

		/**
		 * Returns the claim of an earlier call in this transaction.
		 * @return the claim that was last bound with the key, {@code null} without such a
		 * claim
		 */
		@Nullable OwnedClaim find(IdempotencyKey key);

		/**
		 * Stores a claim until the transaction ended.
		 * @param ended receives the outcome once, after the transaction ended
		 */
		void bind(IdempotencyKey key, OwnedClaim claim, Consumer<TransactionOutcome> ended);

	}

	/**
	 * The transactions of the current thread. Thread-safe.
	 *
	 * @hidden
	 */
	interface ThreadTransactions extends WorkOutcomes {

		/** The transactions of an application without transactions. */
		ThreadTransactions NONE = () -> null;

		/**
		 * Returns the innermost open transaction of the current thread, {@code null}
		 * without a transaction.
		 */
		@Nullable SurroundingTransaction current();

	}

	/**
	 * Marks an exception of the guard itself. It is unrelated to the guarded work,
	 * regardless of its type, so it never means "already done".
	 *
	 * @hidden
	 */
	interface GuardSignal {

		/**
		 * Returns whether the guard threw an exception: a signal, a fault, or the
		 * rejection of another guarded call.
		 */
		static boolean is(Throwable thrown) {
			return thrown instanceof GuardSignal || thrown instanceof IdempotencyException
					|| thrown instanceof IdempotencyStoreException;
		}

	}

}
