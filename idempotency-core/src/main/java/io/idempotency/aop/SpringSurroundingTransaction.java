package io.idempotency.aop;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.idempotency.Internal;
import io.idempotency.engine.BusinessTransactions.Outcome;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.engine.SurroundingTransaction;
import io.idempotency.key.IdempotencyKey;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The Spring transaction of the calling thread. Its claims are kept in one of its
 * synchronizations, so that Spring puts them aside when it suspends the transaction.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class SpringSurroundingTransaction implements SurroundingTransaction {

	private static final SpringSurroundingTransaction INSTANCE = new SpringSurroundingTransaction();

	private SpringSurroundingTransaction() {
	}

	/**
	 * Returns the transaction of the calling thread.
	 * @return the transaction, {@code null} if the thread is in none
	 */
	public static @Nullable SurroundingTransaction current() {
		return (TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive()) ? INSTANCE : null;
	}

	@Override
	public @Nullable OwnedClaim find(IdempotencyKey key) {
		BoundClaims bound = BoundClaims.current();
		return (bound != null) ? bound.claims.get(key) : null;
	}

	@Override
	public void bind(IdempotencyKey key, OwnedClaim claim, Consumer<Outcome> ended) {
		BoundClaims bound = BoundClaims.current();
		if (bound == null) {
			bound = new BoundClaims();
			TransactionSynchronizationManager.registerSynchronization(bound);
		}
		bound.claims.put(key, claim);
		bound.all.add(new Bound(key, claim, ended));
	}

	private static final class BoundClaims implements TransactionSynchronization {

		private final Map<IdempotencyKey, OwnedClaim> claims = new HashMap<>();

		/** All claims, in the order in which they were bound. */
		private final List<Bound> all = new ArrayList<>();

		/** For each savepoint, how many claims were bound before it. */
		private final Map<Object, Integer> savepoints = new IdentityHashMap<>();

		static @Nullable BoundClaims current() {
			for (TransactionSynchronization candidate : TransactionSynchronizationManager.getSynchronizations()) {
				if (candidate instanceof BoundClaims bound) {
					return bound;
				}
			}
			return null;
		}

		@Override
		public void savepoint(Object savepoint) {
			this.savepoints.put(savepoint, this.all.size());
		}

		/**
		 * Ends the claims that were bound after the savepoint: their work is rolled back,
		 * even if the transaction commits later. An unknown savepoint is older than the
		 * first claim.
		 */
		@Override
		public void savepointRollback(Object savepoint) {
			List<Bound> since = this.all.subList(this.savepoints.getOrDefault(savepoint, 0), this.all.size());
			List<Bound> gone = List.copyOf(since);
			since.clear();
			for (Bound bound : gone) {
				this.claims.remove(bound.key(), bound.claim());
				bound.ended().accept(Outcome.ROLLED_BACK);
			}
		}

		@Override
		public void afterCompletion(int status) {
			Outcome outcome = SpringTransactions.outcome(status);
			this.all.forEach((bound) -> bound.ended().accept(outcome));
		}

	}

	private record Bound(IdempotencyKey key, OwnedClaim claim, Consumer<Outcome> ended) {
	}

}
