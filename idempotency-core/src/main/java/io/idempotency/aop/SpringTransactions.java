package io.idempotency.aop;

import java.util.function.Consumer;

import io.idempotency.engine.BusinessTransactions;
import io.idempotency.store.IdempotencyStoreException;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionException;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Transactions of Spring. Every exception of the work rolls back, a checked one too: what
 * has failed must not be recorded as done.
 */
final class SpringTransactions implements BusinessTransactions {

	private final PlatformTransactionManager manager;

	private final TransactionDefinition definition;

	SpringTransactions(PlatformTransactionManager manager, TransactionDefinition definition) {
		this.manager = manager;
		this.definition = definition;
	}

	@Override
	public <T> @Nullable T execute(Work<T> work, Consumer<Outcome> ended) throws Throwable {
		TransactionStatus status = begin();
		T result;
		try {
			TransactionSynchronizationManager.registerSynchronization(new Ending(ended));
			result = work.run();
		}
		catch (Throwable failure) {
			rollback(status, failure);
			throw failure;
		}
		this.manager.commit(status);
		return result;
	}

	private TransactionStatus begin() {
		try {
			return this.manager.getTransaction(this.definition);
		}
		catch (CannotCreateTransactionException ex) {
			throw new IdempotencyStoreException("No transaction could be begun", ex);
		}
	}

	/** The failure of the work wins. */
	private void rollback(TransactionStatus status, Throwable failure) {
		try {
			this.manager.rollback(status);
		}
		catch (TransactionException ex) {
			failure.addSuppressed(ex);
		}
	}

	/** The name of a transaction manager and what it does, for messages. */
	@Override
	public String toString() {
		return "the transactions of " + this.manager.getClass().getName();
	}

	private record Ending(Consumer<Outcome> ended) implements TransactionSynchronization {

		@Override
		public void afterCompletion(int status) {
			switch (status) {
				case STATUS_COMMITTED -> this.ended.accept(Outcome.COMMITTED);
				case STATUS_ROLLED_BACK -> this.ended.accept(Outcome.ROLLED_BACK);
				default -> this.ended.accept(Outcome.UNKNOWN);
			}
		}

	}

}
