package io.idempotency.reactor;

import java.time.Duration;
import java.util.function.Consumer;

import io.idempotency.Internal;
import io.idempotency.engine.WorkTransactions;
import reactor.core.publisher.Mono;

/**
 * Runs work in database transactions. Thread-safe.
 *
 * @hidden
 */
@Internal
public interface ReactiveTransactionStarter extends WorkTransactions {

	/**
	 * Runs work in a new transaction, which commits if the work completes and is rolled
	 * back if it fails.
	 * @param ended receives the outcome of the transaction, as far as it is known
	 * @return completes after the commit; fails with a failure of the work or of the
	 * commit, or with a {@link io.idempotency.store.IdempotencyStoreException} if no
	 * transaction could begin
	 */
	Mono<Void> transactional(Mono<Void> work, Consumer<TransactionOutcome> ended);

	/** Returns the timeout for the begin and the end of a transaction. */
	Duration timeout();

}
