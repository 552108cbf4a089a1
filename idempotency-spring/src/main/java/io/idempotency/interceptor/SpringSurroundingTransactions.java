package io.idempotency.interceptor;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.engine.GuardedCall;
import io.idempotency.reactor.ReactiveIdempotencyEngine.SurroundingTransactions;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionContextManager;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * Knows the transactions of Spring: those of a {@code ReactiveTransactionManager} by the
 * context of the subscription, the others by the thread.
 * <p>
 * The end of a reactive transaction could be waited for, but a rollback to a savepoint of
 * it is told to nobody: a call inside of one could be kept as done after its work was
 * rolled back. So such calls are refused. Thread-safe.
 */
final class SpringSurroundingTransactions implements SurroundingTransactions {

	/** What Spring puts into the context. It throws where it finds none of them. */
	private static final Set<Object> KEYS = Stream
		.of(TransactionContextManager.createTransactionContext(), TransactionContextManager.getOrCreateContextHolder())
		.flatMap((made) -> made.apply(Context.empty()).stream())
		.map(Map.Entry::getKey)
		.collect(Collectors.toUnmodifiableSet());

	@Override
	public void refuse(GuardedCall call, ContextView subscription) {
		if (KEYS.stream().anyMatch(subscription::hasKey) && isInTransaction(subscription)) {
			throw new GuardFaultException("The call of '" + call.operation()
					+ "' was not executed: it is inside an open reactive transaction, whose rollback would not be "
					+ "noticed, so its result could be replayed without its work. Call it outside the "
					+ "transaction, or put @Transactional on the guarded method", null);
		}
	}

	/** The state of a transaction is in the context, so nothing is waited for. */
	private static boolean isInTransaction(ContextView subscription) {
		Boolean active = TransactionSynchronizationManager.forCurrentTransaction()
			.map(TransactionSynchronizationManager::isActualTransactionActive)
			.onErrorReturn(NoTransactionException.class, false)
			.contextWrite((context) -> context.putAll(subscription))
			.toFuture()
			.getNow(true);
		return active;
	}

	@Override
	public boolean haveThisThread() {
		return org.springframework.transaction.support.TransactionSynchronizationManager.isActualTransactionActive();
	}

}
