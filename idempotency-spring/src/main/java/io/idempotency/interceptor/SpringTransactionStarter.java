package io.idempotency.interceptor;

import java.util.function.Consumer;

import io.idempotency.engine.WorkTransactions.TransactionStarter;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.IdempotencyStoreException;

import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Transactions of Spring. Every exception of the work rolls back, even a checked one,
 * because failed work must not be recorded as done.
 */
final class SpringTransactionStarter implements TransactionStarter {

	private final TransactionTracker tracker;

	private final PlatformTransactionManager manager;

	private final TransactionDefinition definition;

	SpringTransactionStarter(TransactionTracker tracker, TransactionDefinition definition) {
		this.tracker = tracker;
		this.manager = tracker.manager();
		this.definition = definition;
	}

	@Override
	public Begun begin(Consumer<TransactionOutcome> ended) {
		boolean surrounded = isSurrounded();
		TransactionStatus status = begin();
		Open open = new Open(this.manager, status, !surrounded && status.isNewTransaction());
		try {
			if (!surrounded && status.hasTransaction() && !status.isNewTransaction()
					&& this.manager instanceof ResourceTransactionManager) {
				// All have been told its end. Only those of JTA are begun by others.
				throw this.tracker.over();
			}
			this.tracker.opened().bind(ended);
		}
		catch (RuntimeException | Error failure) {
			open.rollback(failure);
			throw failure;
		}
		return open;
	}

	@Override
	public boolean isSurrounded() {
		return TransactionSynchronizationManager.isSynchronizationActive();
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * Whatever is bound to the thread may hold a connection: a transaction, the scope of
	 * a method that supports transactions, a session that is open for a whole request.
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
			throw new IdempotencyStoreException("No transaction could be begun", ex);
		}
	}

	/** Returns the name of the transaction manager, for messages. */
	@Override
	public String toString() {
		return this.tracker.toString();
	}

	/** A transaction of the manager. */
	private static final class Open implements Begun {

		private final PlatformTransactionManager manager;

		private final TransactionStatus status;

		private final boolean alone;

		Open(PlatformTransactionManager manager, TransactionStatus status, boolean alone) {
			this.manager = manager;
			this.status = status;
			this.alone = alone;
		}

		@Override
		public boolean isAlone() {
			return this.alone;
		}

		@Override
		public void flush() {
			// As a commit: what will be rolled back is not written.
			if (!this.status.isRollbackOnly()) {
				this.status.flush();
			}
		}

		@Override
		public void commit() {
			this.manager.commit(this.status);
		}

		/**
		 * Rolls back, also a transaction whose manager would leave that to who began it.
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
			catch (Throwable ex) {
				// A synchronization of the application may throw anything.
				if (ex != failure) {
					failure.addSuppressed(ex);
				}
			}
		}

	}

}
