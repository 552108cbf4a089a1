package io.idempotency.engine;

import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.util.function.Consumer;

import io.idempotency.Internal;
import io.idempotency.store.Causes;
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
		Begun begin(Consumer<TransactionOutcome> ended);

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
		interface Begun {

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

	/**
	 * What a thread has been told of commits that have ended by an exception. Something
	 * that was to be done after the commit has failed: what the work has written stays.
	 * Or the commit was not answered: nobody knows. Neither failure may free the key. A
	 * later commit undoes nothing of it. A rollback undoes what its own transaction was
	 * told since it began.
	 *
	 * @hidden
	 */
	final class CommittedWork {

		/** SQL: the connection was lost, or its end of the transaction is not known. */
		private static final String CONNECTION = "08";

		/** SQL: nobody knows whether the statement, as a commit, was done. */
		private static final String NOT_KNOWN = "40003";

		/** MariaDB's driver: connected anew in a transaction, its commit may be done. */
		private static final String LOST = "25S03";

		private static final ThreadLocal<@Nullable Told> LAST = new ThreadLocal<>();

		private CommittedWork() {
		}

		/**
		 * Is told of a commit of the current thread that an exception has ended.
		 * @param how how it has ended: rolled back, if the exception does not say
		 * otherwise
		 * @param before what was known when its transaction began
		 */
		public static void threw(TransactionOutcome how, @Nullable Told before) {
			boolean refused = how == TransactionOutcome.ROLLED_BACK;
			LAST.set((refused && before != null) ? new Told(before.how, before.nanos, now())
					: new Told(how, now(), now()));
		}

		/**
		 * Is told that a transaction of the current thread has rolled back.
		 * @param before what was known when it began
		 */
		public static void rolledBack(@Nullable Told before) {
			if (before != null) {
				LAST.set(before);
			}
			else if (LAST.get() != null) {
				LAST.remove();
			}
		}

		/** Returns the present time, from which on work is looked at. */
		public static long now() {
			return System.nanoTime();
		}

		/** Returns what is known of the current thread now. */
		public static @Nullable Told last() {
			return LAST.get();
		}

		/**
		 * Returns whether work that has begun at a time has committed on the current
		 * thread, whatever exception came of it.
		 * @param failure the failure of the work, {@code null} if there is none
		 */
		public static TransactionOutcome since(long begun, @Nullable Throwable failure) {
			Told last = LAST.get();
			if (last == null || last.thrownNanos - begun < 0) {
				return TransactionOutcome.ROLLED_BACK;
			}
			if (last.how != TransactionOutcome.ROLLED_BACK && last.nanos - begun >= 0) {
				return last.how;
			}
			return Causes.of(failure).anyMatch(CommittedWork::leavesOpen) ? TransactionOutcome.UNKNOWN
					: TransactionOutcome.ROLLED_BACK;
		}

		/**
		 * A driver may have connected anew by itself, so that only this tells. A
		 * time-out, or a pool that has no connection, is that of a statement before the
		 * commit.
		 */
		private static boolean leavesOpen(Throwable cause) {
			if (!(cause instanceof SQLException ex)) {
				return false;
			}
			if (ex instanceof SQLNonTransientConnectionException || ex instanceof SQLRecoverableException) {
				return true;
			}
			String state = ex.getSQLState();
			return state != null && (state.startsWith(CONNECTION) || state.equals(NOT_KNOWN) || state.equals(LOST));
		}

		/**
		 * What was told.
		 *
		 * @param how how a commit has ended, rolled back if none has ended otherwise
		 * @param nanos when that was told
		 * @param thrownNanos when a commit has thrown last
		 * @hidden
		 */
		public record Told(TransactionOutcome how, long nanos, long thrownNanos) {
		}

	}

}
