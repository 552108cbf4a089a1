package io.idempotency.interceptor;

import java.util.function.Consumer;

import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.NoTransactionToJoinException;

import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Spring transactions. Every exception of the work rolls back, even a checked one,
 * because failed work must not be recorded as done.
 */
final class SpringTransactionStarter implements TransactionStarter {

	private final PlatformTransactionManager manager;

	private final TransactionDefinition definition;

	SpringTransactionStarter(PlatformTransactionManager manager, TransactionDefinition definition) {
		this.manager = manager;
		this.definition = definition;
	}

	@Override
	public StartedTransaction begin(Consumer<TransactionOutcome> ended) {
		boolean surrounded = isSurrounded();
		TransactionStatus status = begin();
		Open open = new Open(this.manager, status, !surrounded && status.isNewTransaction(), ended);
		try {
			requireOpen(surrounded, status);
			CallerTransaction.register(open::ended);
		}
		catch (RuntimeException | Error failure) {
			open.rollback(failure);
			throw failure;
		}
		return open;
	}

	private void requireOpen(boolean surrounded, TransactionStatus status) {
		CommitTracker.Transaction transaction = CommitTracker.tracked();
		// Only JTA transactions may begin outside Spring.
		boolean completed = !surrounded && status.hasTransaction() && !status.isNewTransaction()
				&& this.manager instanceof ResourceTransactionManager;
		if (completed || (transaction != null && transaction.isCompleting())) {
			throw new NoTransactionToJoinException("No transaction is available to join: the transaction of the "
					+ "calling thread, of " + this.manager.getClass().getName() + ", is ending. Start a new "
					+ "transaction around the call "
					+ "(TransactionTemplate with PROPAGATION_REQUIRES_NEW), or set transaction = TransactionMode.SEPARATE");
		}
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			throw new NoTransactionToJoinException(
					"No transaction is available to join: " + this.manager.getClass().getName()
							+ " does not notify transaction synchronizations. Set its transactionSynchronization to "
							+ "SYNCHRONIZATION_ALWAYS");
		}
	}

	@Override
	public boolean isSurrounded() {
		return TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * Any resource that is bound to the thread may hold a connection: a transaction, the
	 * scope of a method that supports transactions, or a session that is open for a whole
	 * request.
	 */
	@Override
	public boolean wouldBegin() {
		return this.definition.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRED && !isSurrounded()
				&& TransactionSynchronizationManager.getResourceMap().isEmpty();
	}

	private TransactionStatus begin() {
		try {
			return this.manager.getTransaction(this.definition);
		}
		catch (CannotCreateTransactionException ex) {
			throw new IdempotencyStoreException("The transaction could not be started", ex);
		}
	}

	/** Returns the name of the transaction manager, for messages. */
	@Override
	public String toString() {
		return "the transactions of " + this.manager.getClass().getName();
	}

	/** A transaction of the manager. */
	private static final class Open implements StartedTransaction {

		private final PlatformTransactionManager manager;

		private final TransactionStatus status;

		private final boolean alone;

		private final Consumer<TransactionOutcome> ended;

		private boolean committing;

		private boolean unknown;

		Open(PlatformTransactionManager manager, TransactionStatus status, boolean alone,
				Consumer<TransactionOutcome> ended) {
			this.manager = manager;
			this.status = status;
			this.alone = alone;
			this.ended = ended;
		}

		@Override
		public boolean isAlone() {
			return this.alone;
		}

		@Override
		public void flush() {
			// As in a commit: changes that will be rolled back are not written.
			if (!this.status.isRollbackOnly()) {
				this.status.flush();
			}
		}

		@Override
		public void commit() {
			this.committing = true;
			try {
				this.manager.commit(this.status);
			}
			catch (RuntimeException | Error ex) {
				if (this.unknown) {
					this.ended.accept(
							CommitTracker.isAnswered(ex) ? TransactionOutcome.ROLLED_BACK : TransactionOutcome.UNKNOWN);
				}
				throw ex;
			}
			finally {
				this.committing = false;
			}
		}

		/** Notes the outcome, unless the exception of the commit is more precise. */
		void ended(TransactionOutcome outcome) {
			this.unknown = this.committing && outcome == TransactionOutcome.UNKNOWN;
			if (!this.unknown) {
				this.ended.accept(outcome);
			}
		}

		/**
		 * Rolls back, even if the manager would leave the rollback to an outer
		 * transaction.
		 */
		@Override
		public void rollback(Throwable failure) {
			try {
				try {
					this.status.setRollbackOnly();
				}
				finally {
					this.manager.rollback(this.status);
				}
			}
			catch (RuntimeException | Error ex) {
				if (ex != failure) {
					failure.addSuppressed(ex);
				}
			}
		}

	}

}
