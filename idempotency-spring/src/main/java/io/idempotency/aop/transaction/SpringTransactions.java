package io.idempotency.aop.transaction;

import java.util.function.Consumer;

import io.idempotency.engine.BusinessTransactions;
import io.idempotency.protocol.TransactionOutcome;
import io.idempotency.store.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Transactions of Spring. Every exception of the work rolls back, even a checked one,
 * because failed work must not be recorded as done.
 */
final class SpringTransactions implements BusinessTransactions {

	private final ManagedTransactions transactions;

	private final PlatformTransactionManager manager;

	private final TransactionDefinition definition;

	SpringTransactions(ManagedTransactions transactions, TransactionDefinition definition) {
		this.transactions = transactions;
		this.manager = transactions.manager();
		this.definition = definition;
	}

	@Override
	public <T> @Nullable T execute(Work<T> work, Consumer<TransactionOutcome> ended) throws Throwable {
		TransactionStatus status = begin();
		T result;
		try {
			this.transactions.opened().bind(ended);
			result = work.run();
		}
		catch (Throwable failure) {
			rollback(status, failure);
			throw failure;
		}
		this.manager.commit(status);
		return result;
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * Whatever is bound to the thread may hold a connection: a transaction, the scope of
	 * a method that supports transactions, a session that is open for a whole request.
	 */
	@Override
	public boolean wouldBegin() {
		return this.definition.getPropagationBehavior() == TransactionDefinition.PROPAGATION_REQUIRED
				&& !TransactionSynchronizationManager.isSynchronizationActive()
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

	/**
	 * Rolls back, also a transaction whose manager would leave that to who began it. A
	 * failure of the rollback is only added to the failure of the work.
	 */
	private void rollback(TransactionStatus status, Throwable failure) {
		try {
			try {
				status.setRollbackOnly();
			}
			finally {
				this.manager.rollback(status);
			}
		}
		catch (Throwable ex) {
			// A synchronization of the application may throw anything.
			if (ex != failure) {
				failure.addSuppressed(ex);
			}
		}
	}

	/** Returns the name of the transaction manager, for messages. */
	@Override
	public String toString() {
		return this.transactions.toString();
	}

}
