package io.idempotency.engine;

import java.util.function.Consumer;

import io.idempotency.Internal;
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
	 * @param <T> what the work gives
	 * @param work what it throws rolls the transaction back
	 * @param ended told how the transaction has ended, once it has: for a transaction
	 * that was there before, that is after this method
	 * @return what the work has given
	 * @throws io.idempotency.store.IdempotencyStoreException if no transaction could be
	 * begun, so that the work was not run
	 * @throws Throwable what the work throws, or what the commit fails with
	 */
	<T> @Nullable T execute(Work<T> work, Consumer<Outcome> ended) throws Throwable;

	/**
	 * What runs in a transaction.
	 *
	 * @param <T> what it gives
	 * @hidden
	 */
	@FunctionalInterface
	interface Work<T> {

		/**
		 * Runs it.
		 * @return what it gives
		 * @throws Throwable whatever it throws
		 */
		@Nullable T run() throws Throwable;

	}

	/**
	 * How a transaction has ended.
	 *
	 * @hidden
	 */
	enum Outcome {

		/** All of it is there. */
		COMMITTED,

		/** Nothing of it is there. */
		ROLLED_BACK,

		/** Nobody knows: the reply to the commit was lost. */
		UNKNOWN

	}

}
