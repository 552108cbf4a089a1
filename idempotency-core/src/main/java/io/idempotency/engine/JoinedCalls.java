package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoredResult;
import io.idempotency.store.TransactionLostException;
import org.jspecify.annotations.Nullable;

/**
 * Guards calls whose record commits in the same database transaction as their work.
 * <p>
 * Claim and completion run inside the transaction, so there is nothing to renew, nothing
 * to release and nobody to wait for: a duplicate waits on the row. What is refused or
 * replayed leaves the transaction as it is.
 */
final class JoinedCalls {

	/** How long duplicates wait for a result that is attached after the commit. */
	private static final Duration ATTACH_WITHIN = Duration.ofSeconds(10);

	private static final Duration STORE_RETRY_AFTER = Duration.ofSeconds(1);

	/** A transaction that the database ends because of a deadlock is begun again. */
	private static final int ATTEMPTS = 3;

	private final IdempotencyEngine engine;

	JoinedCalls(IdempotencyEngine engine) {
		this.engine = engine;
	}

	<T> @Nullable T execute(GuardedCall call, Door<T> door, BusinessTransactions transactions) throws Throwable {
		for (int attempt = 1;; attempt++) {
			try {
				return executeOnce(call, door, transactions);
			}
			catch (ClaimLostWithTransaction ex) {
				if (attempt == ATTEMPTS) {
					throw ex.unavailable;
				}
				// A deadlock of claims, and nothing has run.
				this.engine.retryingTransaction(call, ex.unavailable);
			}
		}
	}

	private <T> @Nullable T executeOnce(GuardedCall call, Door<T> door, BusinessTransactions transactions)
			throws Throwable {
		JoinedStore store = new JoinedStore(call.store());
		JoinedDoor<T> joined = new JoinedDoor<>(door, store);
		GuardedCall inside = new GuardedCall(call.key(), call.fingerprint(), inside(call.policy()), store);
		Answer<T> answer;
		try {
			answer = transactions.execute(() -> run(inside, joined), store::ended);
		}
		catch (Throwable failure) {
			Execution execution = joined.execution;
			if (execution != null && (joined.failure == failure || door.isDuplicate(failure))) {
				// A unique index may also speak at the commit.
				return afterRollback(call, execution, door, store, failure);
			}
			if (execution == null && failure instanceof IdempotencyStoreException) {
				throw new IdempotencyStoreUnavailableException(call.operation(), STORE_RETRY_AFTER, failure);
			}
			if (execution == null && failure instanceof IdempotencyStoreUnavailableException unavailable
					&& unavailable.getCause() instanceof TransactionLostException) {
				throw new ClaimLostWithTransaction(unavailable);
			}
			throw failure;
		}
		if (answer == null) {
			throw new IllegalStateException("A transaction gives what its work has given");
		}
		return answer.get();
	}

	private static IdempotencyPolicy inside(IdempotencyPolicy policy) {
		return new IdempotencyPolicy(policy.operation(), policy.mode(), policy.retention(), policy.lease(), false,
				ConflictMode.REJECT, policy.waitTimeout(), policy.onFailure(), policy.onAbandoned(),
				policy.recoverable(), StoreFailureMode.REJECT);
	}

	private <T> Answer<T> run(GuardedCall call, JoinedDoor<T> door) throws Throwable {
		Answer<T> answer;
		try {
			answer = new Answer<>(this.engine.execute(call, door), null);
		}
		catch (Throwable failure) {
			if (door.execution != null || failure instanceof IdempotencyStoreUnavailableException) {
				throw failure;
			}
			// Refused or replayed: no reason to roll back what the caller does besides.
			answer = new Answer<>(null, failure);
		}
		RuntimeException failure = door.store.failure();
		if (failure != null) {
			throw new IdempotencyStoreUnavailableException(call.operation(), STORE_RETRY_AFTER, failure);
		}
		return answer;
	}

	private <T> @Nullable T afterRollback(GuardedCall call, Execution execution, Door<T> door, JoinedStore store,
			Throwable failure) throws Throwable {
		if (door.isDuplicate(failure)) {
			try (IdempotencyContextHolder.Binding binding = IdempotencyContextHolder.bind(execution.context())) {
				return this.engine.afterDuplicate(call, execution, door, failure);
			}
		}
		try {
			store.rememberFailure();
		}
		catch (RuntimeException ex) {
			failure.addSuppressed(ex);
		}
		throw failure;
	}

	/** The database has rolled the transaction back before anything has run in it. */
	private static final class ClaimLostWithTransaction extends Exception {

		private static final long serialVersionUID = 1L;

		private final IdempotencyStoreUnavailableException unavailable;

		ClaimLostWithTransaction(IdempotencyStoreUnavailableException unavailable) {
			super(unavailable);
			this.unavailable = unavailable;
		}

	}

	/** What the caller gets once the transaction has ended. */
	private record Answer<T>(@Nullable T value, @Nullable Throwable failure) {

		@Nullable T get() throws Throwable {
			if (this.failure != null) {
				throw this.failure;
			}
			return this.value;
		}

	}

	/** Tells the store how the work ends, and leaves what follows a rollback to later. */
	private static final class JoinedDoor<T> implements Door<T> {

		private final Door<T> door;

		private final JoinedStore store;

		private @Nullable Execution execution;

		private @Nullable Throwable failure;

		JoinedDoor(Door<T> door, JoinedStore store) {
			this.door = door;
			this.store = store;
		}

		@Override
		public @Nullable T run() throws Throwable {
			return this.door.run();
		}

		@Override
		public @Nullable T recover() throws Throwable {
			return this.door.recover();
		}

		/** Asked after the rollback: the recovery needs a transaction of its own. */
		@Override
		public boolean isDuplicate(Throwable thrown) {
			return false;
		}

		@Override
		public @Nullable T replay(StoredResult result) throws Throwable {
			return this.door.replay(result);
		}

		@Override
		public void acquired(Execution acquired) {
			this.execution = acquired;
			this.door.acquired(acquired);
		}

		@Override
		public @Nullable T returned(@Nullable Execution owned, @Nullable T value, boolean recovered) {
			T answer = this.door.returned(owned, value, recovered);
			if (owned != null) {
				owned.executed(ATTACH_WITHIN);
			}
			return answer;
		}

		@Override
		public void threw(Execution owned, Throwable thrown) {
			this.failure = thrown;
			this.store.failing();
			if (!this.door.isDuplicate(thrown)) {
				this.door.threw(owned, thrown);
			}
		}

	}

}
