package io.idempotency.reactor;

import java.time.Duration;

import io.idempotency.Internal;
import io.idempotency.engine.WorkTransactions;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * The database transactions of subscriptions. Thread-safe.
 *
 * @hidden
 */
@Internal
public interface ReactiveTransactionStarter extends WorkTransactions {

	/**
	 * Begins a transaction at each subscription, which must not be cancelled.
	 * @return the transaction; fails with a
	 * {@link io.idempotency.store.IdempotencyStoreException} if none could be begun
	 */
	Mono<Begun> begin();

	/**
	 * Returns how long the begin or the end of a transaction is waited for.
	 */
	Duration timeout();

	/**
	 * A transaction in which work runs. Its steps come one after the other, and none may
	 * be cancelled.
	 *
	 * @hidden
	 */
	interface Begun {

		/** Returns the context of subscriptions that are in the transaction. */
		Context inside(Context outside);

		/**
		 * Commits.
		 * @return fails with the exception of the commit
		 */
		Mono<Void> commit();

		/** Rolls back. */
		Mono<Void> rollback();

		/**
		 * Returns how the transaction has ended, once it was committed or rolled back,
		 * with success or not.
		 */
		TransactionOutcome outcome();

	}

}
