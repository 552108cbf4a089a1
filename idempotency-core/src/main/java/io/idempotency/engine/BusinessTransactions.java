package io.idempotency.engine;

import java.util.function.Consumer;

import io.idempotency.Internal;
import io.idempotency.protocol.TransactionOutcome;
import org.jspecify.annotations.Nullable;

/**
 * The database transactions of the application, in which the records of operations with
 * {@link io.idempotency.TransactionMode#JOIN} are written. Thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public interface BusinessTransactions {

	/**
	 * Runs work in the current transaction, or in a new one if there is none.
	 * @param <T> the result of the work
	 * @param work the work; its exception rolls the transaction back
	 * @param ended is told how the transaction has ended. A transaction that was open
	 * before this call ends after this method has returned
	 * @return the result of the work
	 * @throws io.idempotency.store.IdempotencyStoreException if no transaction could be
	 * begun; the work has not run
	 * @throws Throwable the exception of the work, or of the commit
	 */
	<T> @Nullable T execute(Work<T> work, Consumer<TransactionOutcome> ended) throws Throwable;

	/**
	 * Returns whether work that is executed now would be in a new transaction, and the
	 * calling thread holds no connection yet.
	 * @return whether a transaction would be begun
	 */
	boolean wouldBegin();

	/**
	 * The work that runs in a transaction.
	 *
	 * @param <T> the result
	 * @hidden
	 */
	@FunctionalInterface
	interface Work<T> {

		/**
		 * Runs the work.
		 * @return the result
		 * @throws Throwable any exception of the work
		 */
		@Nullable T run() throws Throwable;

	}

}
