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
 * The work of a guarded call. Its door translates the work for the engine, and the engine
 * decides. For one call, not thread-safe.
 *
 * @param <T> the result of the guarded method
 * @hidden
 */
@Internal
public interface GuardedAction<T> {

	/**
	 * Is told that the call owns its key from now on. The engine calls this method before
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
	 * Is offered the end of a transaction that the call has begun for its work and its
	 * record. The guarded method has returned, and {@link #returned} was told. A door
	 * that takes it ends the transaction later, with its result in it. An exception rolls
	 * the transaction back, and the call has failed with it.
	 * @return whether the door takes it; if not, the transaction is committed at once
	 */
	default boolean takes(TransactionHandle work) {
		return false;
	}

	/**
	 * Looks up the result in the business data. The engine asks only if the policy is
	 * recoverable.
	 * @return the result, or {@code null} if there is none
	 * @throws Throwable any exception of the look-up
	 */
	@Nullable T recover() throws Throwable;

	/** Returns whether an exception of the guarded method means "already done". */
	boolean isDuplicate(Throwable failure);

	/**
	 * Turns a stored result into the answer for a duplicate.
	 * @throws Throwable the exception that the caller gets instead: a remembered failure,
	 * or a signal of the door
	 */
	@Nullable T replay(StoredResult result) throws Throwable;

	/**
	 * Turns a result that was looked up into the answer for a duplicate. The engine calls
	 * this method where no claim is held: the record is a tombstone, or its result cannot
	 * be read.
	 */
	default @Nullable T replayRecovered(T value) {
		return value;
	}

	/**
	 * Returns the open transaction that the work is a part of. The call is done when that
	 * has committed. Work that goes on after the method has returned is no part of it.
	 * @param current the innermost transaction that the calling thread is in,
	 * {@code null} if there is none
	 * @return the transaction, {@code null} if the work commits by itself
	 */
	default @Nullable SurroundingTransaction surrounding(@Nullable SurroundingTransaction current) {
		return current;
	}

	/**
	 * Returns whether the guarded method returns futures. The caller then gets another
	 * future, which completes after the claim has ended.
	 * @return whether {@code T} is a {@link java.util.concurrent.CompletableFuture} or
	 * {@link CompletionStage}
	 */
	default boolean isAsync() {
		return false;
	}

	/**
	 * Is told that the guarded method has returned a future.
	 * @param answer the future that the caller gets
	 * @return whether the adapter {@linkplain OwnedClaim#detach() detaches} the claim
	 * when the caller is gone. If not, the renewal of the claim is bounded from now on
	 */
	default boolean deferred(CompletionStage<?> answer) {
		return false;
	}

	/**
	 * Is told the value of the guarded method, or the value that was looked up.
	 * @param value the value; if the method returned a future, the value inside
	 * @param recovered whether the value was looked up, so that it is answered as a
	 * replay
	 * @return how the call has ended; an exception of this method makes the ending
	 * {@link CallOutcome.SuccessWithoutResult}, never a failure of the call
	 */
	CallOutcome returned(@Nullable Object value, boolean recovered);

	/**
	 * Is told that the guarded method has thrown, or that its future has failed.
	 * @param failure the exception, which the caller gets
	 * @return how the call has ended
	 */
	CallOutcome threw(Throwable failure);

	/**
	 * Is told that the guarded method has thrown although its transaction has committed.
	 * @param failure the exception, which the caller gets
	 * @return how the call has ended
	 */
	default CallOutcome threwAfterCommit(Throwable failure) {
		return new CallOutcome.SuccessWithoutResult(failure);
	}

	/**
	 * Is told that the future of the guarded method was cancelled or has timed out. Its
	 * owner gave up, and that says nothing about the work.
	 * @param failure the exception, which the caller gets
	 * @return how the call has ended
	 */
	default CallOutcome gaveUp(Throwable failure) {
		return CallOutcome.OUT_OF_SIGHT;
	}

	/**
	 * Work that has returned, and whose transaction is open. Whoever has
	 * {@linkplain GuardedAction#takes(TransactionHandle) taken} it ends the transaction,
	 * once, on the thread of the work.
	 *
	 * @hidden
	 */
	interface TransactionHandle {

		/**
		 * Sends to the database what the work has changed in memory, so that what the
		 * database makes of it can be seen.
		 * @throws RuntimeException the exception of the database
		 */
		void flush();

		/**
		 * Writes the record, with the result if the call has ended by now, and commits.
		 * @throws RuntimeException the exception of the commit, or of the record; the
		 * transaction was rolled back, or its end is not known
		 */
		void commit();

		/**
		 * Looks the result up after a failed commit that says that the work was done
		 * before.
		 * @param failure the exception of the commit
		 * @return the result, which the guarded action was told
		 * @throws Throwable the exception of the commit if it says something else, or the
		 * rejection if there is no result
		 */
		@Nullable Object recover(Throwable failure) throws Throwable;

		/**
		 * Rolls back: the work has failed.
		 * @param failure why; a failure of the rollback is only added to it
		 */
		void rollback(Throwable failure);

	}

	/**
	 * The database transaction around a guarded call, which was open before the call.
	 * Until its end the engine does not know whether the work of the call will be
	 * committed. For the thread of the transaction.
	 *
	 * @hidden
	 */
	interface SurroundingTransaction {

		/**
		 * Returns the claim of an earlier call in this transaction.
		 * @return the claim that was last bound with the key, {@code null} if none was
		 */
		@Nullable OwnedClaim find(IdempotencyKey key);

		/**
		 * Remembers a claim until the transaction has ended.
		 * @param ended is told once how the transaction has ended, after its end
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
		 * Returns the innermost open transaction of the current thread, {@code null} if
		 * there is none.
		 */
		@Nullable SurroundingTransaction current();

	}

	/**
	 * Marks an exception of the guard itself. It says nothing of the guarded work,
	 * whatever type it has, so it never means "already done".
	 *
	 * @hidden
	 */
	interface GuardSignal {

		/**
		 * Returns whether an exception is of the guard: a signal, a fault, or the rejection
		 * of another guarded call.
		 */
		static boolean is(Throwable thrown) {
			return thrown instanceof GuardSignal || thrown instanceof IdempotencyException
					|| thrown instanceof IdempotencyStoreException;
		}

	}

}
