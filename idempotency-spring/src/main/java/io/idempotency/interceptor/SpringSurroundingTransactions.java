package io.idempotency.interceptor;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.reactor.ReactiveClaim;
import io.idempotency.reactor.ReactiveClaim.SurroundingTransaction;
import io.idempotency.reactor.ReactiveIdempotencyEngine.SurroundingTransactions;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

import org.springframework.core.Ordered;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionContextManager;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * Finds Spring transactions: those of a {@code ReactiveTransactionManager} in the context
 * of the subscription, the others on the thread. Thread-safe.
 */
final class SpringSurroundingTransactions implements SurroundingTransactions {

	/**
	 * The keys that Spring puts into the context. Spring throws an exception if all keys
	 * are absent.
	 */
	private static final Set<Object> KEYS = Stream
		.of(TransactionContextManager.createTransactionContext(), TransactionContextManager.getOrCreateContextHolder())
		.flatMap((made) -> made.apply(Context.empty()).stream())
		.map(Map.Entry::getKey)
		.collect(Collectors.toUnmodifiableSet());

	@Override
	public @Nullable SurroundingTransaction of(ContextView subscription) {
		return current(subscription);
	}

	/**
	 * Returns the transaction of the subscription. Its state is in the context, so
	 * nothing blocks.
	 */
	static @Nullable CallerTransaction current(ContextView subscription) {
		if (KEYS.stream().noneMatch(subscription::hasKey)) {
			return null;
		}
		return TransactionSynchronizationManager.forCurrentTransaction()
			.filter((manager) -> manager.isActualTransactionActive() && manager.isSynchronizationActive())
			.map(CallerTransaction::new)
			.onErrorResume(NoTransactionException.class, (none) -> Mono.empty())
			.contextWrite((context) -> context.putAll(subscription))
			.toFuture()
			.getNow(null);
	}

	@Override
	public Context newContext() {
		return TransactionContextManager.getOrCreateContextHolder().apply(Context.empty());
	}

	@Override
	public boolean haveThisThread() {
		return org.springframework.transaction.support.TransactionSynchronizationManager.isActualTransactionActive();
	}

	/**
	 * A reactive transaction of a caller.
	 *
	 * @param manager manages its synchronizations
	 */
	record CallerTransaction(TransactionSynchronizationManager manager) implements SurroundingTransaction {

		@Override
		public @Nullable ReactiveClaim find(IdempotencyKey key) {
			return this.manager.getSynchronizations()
				.stream()
				.filter((each) -> each instanceof ClaimSynchronization known && key.equals(known.claim.key()))
				.map((each) -> ((ClaimSynchronization) each).claim)
				.reduce(null, (earlier, later) -> later);
		}

		@Override
		public void bind(ReactiveClaim claim) {
			this.manager.registerSynchronization(new ClaimSynchronization(claim));
		}

	}

	/**
	 * Ends a claim with the transaction. Registered as the first synchronization: if one
	 * fails after the commit, Spring calls no further synchronization.
	 */
	private static final class ClaimSynchronization implements TransactionSynchronization, Ordered {

		private final ReactiveClaim claim;

		private volatile boolean commitTried;

		ClaimSynchronization(ReactiveClaim claim) {
			this.claim = claim;
		}

		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public Mono<Void> beforeCommit(boolean readOnly) {
			return Mono.fromRunnable(() -> this.commitTried = true);
		}

		@Override
		public Mono<Void> beforeCompletion() {
			return Mono.fromRunnable(this.claim::surroundingCompletes);
		}

		@Override
		public Mono<Void> afterCommit() {
			return Mono.defer(() -> this.claim.surroundingEnded(TransactionOutcome.COMMITTED, true));
		}

		@Override
		public Mono<Void> afterCompletion(int status) {
			return Mono.defer(() -> this.claim.surroundingEnded(switch (status) {
				case STATUS_COMMITTED -> TransactionOutcome.COMMITTED;
				case STATUS_ROLLED_BACK -> TransactionOutcome.ROLLED_BACK;
				default -> TransactionOutcome.UNKNOWN;
			}, this.commitTried));
		}

	}

}
