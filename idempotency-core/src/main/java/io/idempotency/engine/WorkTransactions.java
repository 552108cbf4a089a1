package io.idempotency.engine;

import java.util.function.Consumer;

import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

/**
 * The database transactions of the application, in which the records of operations with
 * {@link io.idempotency.TransactionMode#JOIN} are written: those of threads, or those of
 * another programming model, which its engine defines.
 *
 * @hidden
 */
@Internal
public interface WorkTransactions {

	/**
	 * The outcome of a database transaction.
	 *
	 * @hidden
	 */
	enum TransactionOutcome {

		/** All changes of the transaction were applied. */
		COMMITTED,

		/** No change of the transaction was applied. */
		ROLLED_BACK,

		/** The reply to the commit was lost, so the outcome is unknown. */
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
		 * Begins a transaction, or joins the current one. The thread that calls this
		 * method ends it.
		 * @param ended receives the outcome of the transaction. A transaction that was
		 * open before this call ends after its part here ended
		 * @throws io.idempotency.store.IdempotencyStoreException if no transaction could
		 * be begun
		 */
		StartedTransaction begin(Consumer<TransactionOutcome> ended);

		/**
		 * Returns whether the calling thread is in a transaction or in an equivalent
		 * scope. Another call may wait for the locks of such a transaction.
		 */
		boolean isSurrounded();

		/**
		 * Returns whether a transaction that begins now would be new, while the calling
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
			 * Returns whether the transaction is new and not nested in another scope of
			 * the calling thread, so that it may stay open after the guarded method
			 * returned.
			 * @return whether it ends with this part of it
			 */
			boolean isAlone();

			/** Sends the changes in memory to the database. */
			void flush();

			/**
			 * Commits, or leaves the commit to the owner of the transaction.
			 * @throws RuntimeException the exception of the commit
			 */
			void commit();

			/**
			 * Rolls back the whole transaction, including the parts that others began.
			 * @param failure the reason; a failure of the rollback is only added to it
			 */
			void rollback(Throwable failure);

		}

	}

}
