package io.idempotency.interceptor;

import java.io.IOException;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLRecoverableException;
import java.sql.SQLTimeoutException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.GuardedAction.ThreadTransactions;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.Causes;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Tracks the commits of the transactions that begin inside guarded calls, for calls that
 * fail although their work committed or may have committed. Spring Boot adds this
 * listener to the transaction managers that it configures. Thread-safe.
 */
final class CommitTracker implements TransactionExecutionListener, ThreadTransactions {

	private static final Logger logger = LoggerFactory.getLogger(CommitTracker.class);

	/**
	 * SQL states that do not show the outcome: a lost connection, an unknown completion,
	 * a lost transaction (MariaDB), a shutdown (PostgreSQL), a closed connection (H2).
	 */
	private static final List<String> LOST = List.of("08", "40003", "25S03", "57P", "90007");

	/** The last commit of the thread that failed, or after which a callback failed. */
	private static final ThreadLocal<@Nullable Failure> LAST = new ThreadLocal<>();

	@Override
	public @Nullable SurroundingTransaction current() {
		return CallerTransaction.current();
	}

	@Override
	public TransactionOutcome outcomeSince(long startNanos, @Nullable Throwable failure) {
		Failure last = LAST.get();
		return (last != null) ? last.since(startNanos, failure) : TransactionOutcome.ROLLED_BACK;
	}

	/**
	 * Checks the exception, because nothing else of a reactive transaction is visible.
	 */
	@Override
	public boolean mayHaveCommitted(Throwable failure) {
		return Causes.of(failure)
			.anyMatch((cause) -> cause instanceof DataAccessResourceFailureException
					|| cause instanceof TransientDataAccessResourceException || cause instanceof QueryTimeoutException
					|| cause instanceof TimeoutException);
	}

	@Override
	public void afterBegin(TransactionExecution execution, @Nullable Throwable failure) {
		if (failure == null && execution instanceof DefaultTransactionStatus status && status.isNewSynchronization()) {
			Failure last = LAST.get();
			if (last != null && last.outcome() == TransactionOutcome.UNKNOWN) {
				// An exception of this transaction does not explain an earlier commit.
				LAST.set(new Failure(last.outcome(), last.nanos(), new Failure(last.outcome(), last.nanos(), null)));
			}
			TransactionSynchronizationManager.registerSynchronization(new Transaction());
		}
	}

	/**
	 * Spring calls this method directly before the commit, when no callback can fail. A
	 * transaction that is marked for rollback does not commit.
	 */
	@Override
	public void beforeCommit(TransactionExecution execution) {
		Transaction transaction = (execution instanceof DefaultTransactionStatus) ? tracked() : null;
		if (transaction != null && !execution.isRollbackOnly()) {
			transaction.commit = new Commit();
			TransactionSynchronizationManager.registerSynchronization(transaction.commit);
		}
	}

	/**
	 * Returns the innermost transaction of the current thread, {@code null} if it is not
	 * tracked.
	 */
	static @Nullable Transaction tracked() {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
				if (each instanceof Transaction transaction) {
					return transaction;
				}
			}
		}
		return null;
	}

	/** Logs the managers whose commits are not tracked. */
	static void logUntracked(ConfigurableListableBeanFactory beanFactory) {
		List<String> untracked = Stream
			.of(beanFactory.getBeanNamesForType(AbstractPlatformTransactionManager.class, true, false))
			.filter(beanFactory::containsSingleton)
			.filter((name) -> !isTracked(beanFactory.getBean(name, AbstractPlatformTransactionManager.class)))
			.toList();
		if (!untracked.isEmpty()) {
			logger.warn("[IDEM-119] The transaction managers {} do not have the bean "
					+ "'idempotencyTransactionListener': if a commit fails there, the key is released although the "
					+ "work may have committed. Call addListener on these managers.", untracked);
		}
	}

	private static boolean isTracked(AbstractPlatformTransactionManager manager) {
		return manager.getTransactionSynchronization() == AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER
				|| manager.getTransactionExecutionListeners().stream().anyMatch(CommitTracker.class::isInstance);
	}

	/**
	 * Returns whether a failure proves that the transaction did not commit, because the
	 * database responded. A lost connection or a timeout does not prove this.
	 */
	static boolean isAnswered(@Nullable Throwable failure) {
		List<Throwable> causes = Causes.of(failure).toList();
		return causes.stream().anyMatch(CommitTracker::isAnswer) && causes.stream().noneMatch(CommitTracker::isLost);
	}

	private static boolean isAnswer(Throwable cause) {
		return cause instanceof SQLException ex && ex.getSQLState() != null
				|| cause instanceof UnexpectedRollbackException || cause instanceof DataIntegrityViolationException
				|| cause instanceof OptimisticLockingFailureException;
	}

	private static boolean isLost(Throwable cause) {
		if (cause instanceof SQLException ex && ex.getSQLState() != null
				&& LOST.stream().anyMatch(ex.getSQLState()::startsWith)) {
			return true;
		}
		return cause instanceof SQLTransientConnectionException || cause instanceof SQLNonTransientConnectionException
				|| cause instanceof SQLRecoverableException || cause instanceof SQLTimeoutException
				|| cause instanceof IOException;
	}

	/** One transaction, registered as its first synchronization. */
	static final class Transaction implements TransactionSynchronization {

		/** The state of the thread that a rollback restores. */
		private final @Nullable Failure before = LAST.get();

		private @Nullable Commit commit;

		private boolean completing;

		/** Returns whether the commit was sent to the database. */
		boolean isCommitTried() {
			return this.commit != null;
		}

		/**
		 * Returns whether the transaction ended or is about to end, so that changes are
		 * no longer part of it.
		 */
		boolean isCompleting() {
			return this.completing;
		}

		@Override
		public void beforeCompletion() {
			this.completing = true;
		}

		@Override
		public void afterCompletion(int status) {
			Commit tried = this.commit;
			if (tried == null) {
				set((status == STATUS_COMMITTED) ? LAST.get() : this.before);
			}
			else if (status != STATUS_COMMITTED) {
				set(new Failure(TransactionOutcome.UNKNOWN, this.before));
			}
			else if (!tried.callbacksSucceeded) {
				set(new Failure(TransactionOutcome.COMMITTED, null));
			}
		}

		private static void set(@Nullable Failure failure) {
			if (failure != null) {
				LAST.set(failure);
			}
			else {
				LAST.remove();
			}
		}

	}

	/** The last synchronization of a transaction that commits. */
	private static final class Commit implements TransactionSynchronization {

		private boolean callbacksSucceeded;

		@Override
		public void afterCommit() {
			this.callbacksSucceeded = true;
		}

	}

	/**
	 * A commit that failed, or after which a callback failed.
	 *
	 * @param before the failure before it
	 */
	private record Failure(TransactionOutcome outcome, long nanos, @Nullable Failure before) {

		Failure(TransactionOutcome outcome, @Nullable Failure before) {
			this(outcome, System.nanoTime(), (before != null) ? new Failure(before.outcome, before.nanos, null) : null);
		}

		TransactionOutcome since(long startNanos, @Nullable Throwable failure) {
			if (this.nanos - startNanos < 0) {
				return TransactionOutcome.ROLLED_BACK;
			}
			if (this.outcome == TransactionOutcome.UNKNOWN && isAnswered(failure)) {
				return (this.before != null) ? this.before.since(startNanos, null) : TransactionOutcome.ROLLED_BACK;
			}
			return this.outcome;
		}

	}

}
