package io.idempotency.engine;

import java.util.function.Consumer;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * The database transactions of the application, in which the records of operations with
 * {@link io.idempotency.TransactionMode#JOIN} are written: those of threads, or those of
 * another style of calling, which its driver knows.
 *
 * @hidden
 */
@Internal
public interface WorkTransactions {

	/**
	 * The end of a database transaction.
	 *
	 * @hidden
	 */
	enum TransactionOutcome {

		/** All changes of the transaction are there. */
		COMMITTED,

		/** No change of the transaction is there. */
		ROLLED_BACK,

		/** The reply to the commit was lost, so the end is not known. */
		UNKNOWN

	}

	/**
	 * The ends of transactions that failed work began. Thread-safe.
	 *
	 * @hidden
	 */
	interface WorkOutcomes {

		/**
		 * Returns how the transactions of failed work ended on the current thread.
		 * @param startNanos when the work started, by {@link System#nanoTime()}
		 * @param failure the failure of the work, {@code null} if it is not visible
		 * @return {@code COMMITTED} if a transaction committed and a callback after the
		 * commit failed, {@code UNKNOWN} if a commit failed and the database may have
		 * committed, else {@code ROLLED_BACK}
		 */
		default TransactionOutcome outcomeSince(long startNanos, @Nullable Throwable failure) {
			return TransactionOutcome.ROLLED_BACK;
		}

		/**
		 * Returns whether a transaction whose end is not visible may have committed.
		 * @param failure the failure of the work
		 */
		default boolean mayHaveCommitted(Throwable failure) {
			return false;
		}

	}

	/**
	 * The database transactions of threads. Thread-safe.
	 *
	 * @hidden
	 */
	interface TransactionStarter extends WorkTransactions {

		/**
		 * Begins a transaction, or takes part in the current one. The thread that calls
		 * this method ends it.
		 * @param ended is told how the transaction has ended. A transaction that was open
		 * before this call ends after its part here has ended
		 * @throws io.idempotency.store.IdempotencyStoreException if no transaction could
		 * be begun
		 */
		StartedTransaction begin(Consumer<TransactionOutcome> ended);

		/**
		 * Returns whether the calling thread is in a transaction, or in what stands for
		 * one: another call may wait for what it holds.
		 */
		boolean isSurrounded();

		/**
		 * Returns whether a transaction would be new if it was begun now, and the calling
		 * thread holds no connection yet.
		 */
		boolean wouldBegin();

		/**
		 * A transaction in which work runs.
		 *
		 * @hidden
		 */
		interface StartedTransaction {

			/**
			 * Returns whether the transaction is new, and nothing of the calling thread
			 * is around it, so that it may stay open when the guarded method has
			 * returned.
			 * @return whether it ends with this part of it
			 */
			boolean isAlone();

			/** Sends to the database what the work has changed in memory. */
			void flush();

			/**
			 * Commits, or leaves that to who has begun the transaction.
			 * @throws RuntimeException the exception of the commit
			 */
			void commit();

			/**
			 * Rolls back, also what others have begun.
			 * @param failure why; a failure of the rollback is only added to it
			 */
			void rollback(Throwable failure);

		}

	}

}
