package io.idempotency.interceptor;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.idempotency.engine.WorkTransactions.CommittedWork;
import io.idempotency.engine.OwnedClaim;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * An open Spring transaction of the calling thread, and what has to be told its end. It
 * is one of its own synchronizations, so that Spring puts it aside when it suspends the
 * transaction.
 */
final class SpringSurroundingTransaction implements SurroundingTransaction {

	private final Map<IdempotencyKey, OwnedClaim> claims = new HashMap<>();

	/** What is told the end, in the order in which it was bound. */
	private final List<Consumer<TransactionOutcome>> bound = new ArrayList<>();

	/** What was known of the thread when it began. */
	private final CommittedWork.@Nullable Told before = CommittedWork.last();

	/** Whether a commit was tried. */
	private boolean commits;

	/** Whether it commits, or rolls back, or has done so. */
	private boolean ending;

	/** For each savepoint, how many were bound before it. */
	private final Map<Object, Integer> savepoints = new IdentityHashMap<>();

	private SpringSurroundingTransaction() {
	}

	/**
	 * Returns the innermost transaction of the calling thread.
	 * @return the transaction, {@code null} if the thread is in none
	 */
	static @Nullable SpringSurroundingTransaction current() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()) {
			return null;
		}
		for (TransactionSynchronization candidate : TransactionSynchronizationManager.getSynchronizations()) {
			if (candidate instanceof End end) {
				return end.transaction;
			}
		}
		return begun(null);
	}

	/**
	 * Makes the transaction whose synchronizations are the current ones.
	 * @param key what binds it to the thread until its end, {@code null} for nothing
	 */
	static SpringSurroundingTransaction begun(@Nullable Object key) {
		SpringSurroundingTransaction transaction = new SpringSurroundingTransaction();
		TransactionSynchronizationManager.registerSynchronization(new End(transaction, key));
		return transaction;
	}

	/** Returns the innermost transaction that is bound with a key. */
	static @Nullable SpringSurroundingTransaction bound(Object key) {
		return (SpringSurroundingTransaction) TransactionSynchronizationManager.getResource(key);
	}

	/**
	 * Returns whether the transaction has reached its end: what is written from now on is
	 * not a part of it, although its connection is still bound.
	 */
	boolean isEnding() {
		return this.ending;
	}

	@Override
	public @Nullable OwnedClaim find(IdempotencyKey key) {
		return this.claims.get(key);
	}

	@Override
	public void bind(IdempotencyKey key, OwnedClaim claim, Consumer<TransactionOutcome> ended) {
		this.claims.put(key, claim);
		bind((outcome) -> {
			this.claims.remove(key, claim);
			ended.accept(outcome);
		});
	}

	/**
	 * Remembers what is told, once, how the transaction has ended, or that what was done
	 * in it since a savepoint has been rolled back.
	 */
	void bind(Consumer<TransactionOutcome> ended) {
		this.bound.add(ended);
	}

	/** Is told that a commit is tried. */
	void commits() {
		this.commits = true;
	}

	/**
	 * Notes an end that is no commit for what runs on the thread. Spring also says of a
	 * commit that was not answered that it was rolled back, where it takes the exception
	 * for one of the work, as that of JPA, and of one that was refused that nobody knows.
	 * The connection tells the difference.
	 * @param told what Spring says
	 * @return how the transaction has ended
	 */
	private TransactionOutcome undone(TransactionOutcome told) {
		if (!this.commits) {
			CommittedWork.rolledBack(this.before);
			return told;
		}
		BoundConnections connections = BoundConnections.ask();
		TransactionOutcome how = (connections == BoundConnections.LOST) ? TransactionOutcome.UNKNOWN : told;
		CommittedWork.threw((connections == BoundConnections.ANSWER) ? TransactionOutcome.ROLLED_BACK : how,
				this.before);
		return how;
	}

	/** Tells all of them, and throws what was thrown first. */
	private static void tell(List<Consumer<TransactionOutcome>> all, TransactionOutcome outcome) {
		Throwable failure = null;
		for (Consumer<TransactionOutcome> ended : all) {
			try {
				ended.accept(outcome);
			}
			catch (RuntimeException | Error ex) {
				if (failure == null) {
					failure = ex;
				}
				else if (failure != ex) {
					failure.addSuppressed(ex);
				}
			}
		}
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure instanceof RuntimeException ex) {
			throw ex;
		}
	}

	/** Is told the end of a transaction and its savepoints. */
	private static final class End implements TransactionSynchronization {

		private final SpringSurroundingTransaction transaction;

		private final @Nullable Object key;

		/** What is bound outside of the transaction. */
		private final @Nullable Object outer;

		private final Last last = new Last();

		End(SpringSurroundingTransaction transaction, @Nullable Object key) {
			this.transaction = transaction;
			this.key = key;
			this.outer = (key != null) ? rebind(key, transaction) : null;
		}

		private static @Nullable Object rebind(Object key, @Nullable Object value) {
			Object before = TransactionSynchronizationManager.unbindResourceIfPossible(key);
			if (value != null) {
				TransactionSynchronizationManager.bindResource(key, value);
			}
			return before;
		}

		@Override
		public void savepoint(Object savepoint) {
			this.transaction.savepoints.put(savepoint, this.transaction.bound.size());
		}

		/**
		 * Ends the calls since the savepoint: their work is rolled back, even if the
		 * transaction commits later. An unknown savepoint is older than the first call.
		 */
		@Override
		public void savepointRollback(Object savepoint) {
			List<Consumer<TransactionOutcome>> bound = this.transaction.bound;
			List<Consumer<TransactionOutcome>> since = bound
				.subList(this.transaction.savepoints.getOrDefault(savepoint, 0), bound.size());
			List<Consumer<TransactionOutcome>> gone = List.copyOf(since);
			since.clear();
			tell(gone, TransactionOutcome.ROLLED_BACK);
		}

		/** Of the transactions of others, nothing else tells that. */
		@Override
		public void beforeCommit(boolean readOnly) {
			if (this.key == null) {
				this.transaction.commits();
			}
		}

		/** Stands behind what is told of a commit, as far as that is known by then. */
		@Override
		public void beforeCompletion() {
			this.transaction.ending = true;
			TransactionSynchronizationManager.registerSynchronization(this.last);
		}

		@Override
		public void afterCompletion(int status) {
			if (this.key != null) {
				rebind(this.key, this.outer);
			}
			if (status == STATUS_COMMITTED && this.transaction.ending && !this.last.told) {
				// Who throws after the commit leaves those behind untold.
				CommittedWork.threw(TransactionOutcome.COMMITTED, this.transaction.before);
			}
			tell(this.transaction.bound, switch (status) {
				case STATUS_COMMITTED -> TransactionOutcome.COMMITTED;
				case STATUS_ROLLED_BACK -> this.transaction.undone(TransactionOutcome.ROLLED_BACK);
				default -> this.transaction.undone(TransactionOutcome.UNKNOWN);
			});
		}

	}

	/** Is told of a commit if nobody has thrown before. */
	private static final class Last implements TransactionSynchronization {

		private boolean told;

		@Override
		public void afterCommit() {
			this.told = true;
		}

	}

}
