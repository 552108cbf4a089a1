package io.idempotency.interceptor;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import java.util.function.Consumer;

import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.key.IdempotencyKey;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The innermost Spring transaction of the current thread. Each guarded call inside it has
 * one synchronization, so Spring suspends and resumes the calls with their transaction.
 */
final class CallerTransaction implements SurroundingTransaction {

	private static final CallerTransaction INSTANCE = new CallerTransaction();

	private CallerTransaction() {
	}

	/**
	 * Returns the transaction, {@code null} without a transaction on the current thread.
	 */
	static @Nullable SurroundingTransaction current() {
		return (TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive()) ? INSTANCE : null;
	}

	@Override
	public @Nullable OwnedClaim find(IdempotencyKey key) {
		OwnedClaim found = null;
		for (TransactionSynchronization each : TransactionSynchronizationManager.getSynchronizations()) {
			if (each instanceof CallSynchronization call && !call.ended && key.equals(call.key)) {
				found = call.claim;
			}
		}
		return found;
	}

	@Override
	public void bind(IdempotencyKey key, OwnedClaim claim, Consumer<TransactionOutcome> ended) {
		TransactionSynchronizationManager.registerSynchronization(new CallSynchronization(key, claim, ended));
	}

	/**
	 * Registers a callback for the end of the transaction.
	 * @param ended receives the outcome once, also if a savepoint rolls the work back
	 */
	static void register(Consumer<TransactionOutcome> ended) {
		TransactionSynchronizationManager.registerSynchronization(new CallSynchronization(null, null, ended));
	}

	/** Ends one call with the transaction. */
	private static final class CallSynchronization implements TransactionSynchronization {

		private final @Nullable IdempotencyKey key;

		private final @Nullable OwnedClaim claim;

		private final Consumer<TransactionOutcome> callback;

		private final CommitTracker.@Nullable Transaction transaction = CommitTracker.tracked();

		/** The savepoints that were created after the call. */
		private final Set<Object> savepoints = Collections.newSetFromMap(new IdentityHashMap<>());

		private boolean beforeCommit;

		private boolean ended;

		CallSynchronization(@Nullable IdempotencyKey key, @Nullable OwnedClaim claim,
				Consumer<TransactionOutcome> callback) {
			this.key = key;
			this.claim = claim;
			this.callback = callback;
		}

		@Override
		public void savepoint(Object savepoint) {
			this.savepoints.add(savepoint);
		}

		@Override
		public void savepointRollback(Object savepoint) {
			if (!this.savepoints.contains(savepoint)) {
				end(TransactionOutcome.ROLLED_BACK);
			}
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			this.beforeCommit = true;
		}

		@Override
		public void afterCompletion(int status) {
			if (status == STATUS_COMMITTED) {
				end(TransactionOutcome.COMMITTED);
			}
			else {
				end(mayHaveCommitted(status) ? TransactionOutcome.UNKNOWN : TransactionOutcome.ROLLED_BACK);
			}
		}

		/** JPA also reports a lost reply to the commit as rolled back. */
		private boolean mayHaveCommitted(int status) {
			return (this.transaction != null) ? this.transaction.isCommitTried()
					: this.beforeCommit || status == STATUS_UNKNOWN;
		}

		private void end(TransactionOutcome outcome) {
			if (!this.ended) {
				this.ended = true;
				this.callback.accept(outcome);
			}
		}

	}

}
