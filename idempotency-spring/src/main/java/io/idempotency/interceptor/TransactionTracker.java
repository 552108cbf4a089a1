package io.idempotency.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.NoTransactionToJoinException;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transactions of one manager. A thread may be in transactions of several managers at
 * a time, and Spring shows it only the synchronizations of the innermost one. So the
 * manager tells each transaction that it begins, which is then bound to its thread.
 * Thread-safe.
 */
final class TransactionTracker implements TransactionExecutionListener {

	/**
	 * Takes part in a transaction of the manager if there is one. It is read-only,
	 * because some managers check that.
	 */
	private static final TransactionDefinition LOOK = look();

	private final PlatformTransactionManager manager;

	/**
	 * What the transactions are bound with. Managers of one resource see each other's
	 * transactions.
	 */
	private final Key key;

	private final Set<IdempotencyStore> tried = ConcurrentHashMap.newKeySet();

	private TransactionTracker(PlatformTransactionManager manager) {
		this.manager = manager;
		this.key = new Key((manager instanceof ResourceTransactionManager of) ? of.getResourceFactory() : manager);
	}

	private static TransactionDefinition look() {
		DefaultTransactionDefinition look = new DefaultTransactionDefinition(
				TransactionDefinition.PROPAGATION_SUPPORTS);
		look.setReadOnly(true);
		return look;
	}

	/**
	 * Returns the transactions of a manager. Those that it has begun before the first
	 * call of this method are not known.
	 */
	static synchronized TransactionTracker of(PlatformTransactionManager manager) {
		if (!(manager instanceof ConfigurableTransactionManager telling)) {
			return new TransactionTracker(manager);
		}
		List<TransactionExecutionListener> listeners = new ArrayList<>(telling.getTransactionExecutionListeners());
		for (TransactionExecutionListener listener : listeners) {
			if (listener instanceof TransactionTracker known) {
				return known;
			}
		}
		TransactionTracker transactions = new TransactionTracker(manager);
		listeners.add(transactions);
		// Another list, because other threads may begin transactions now.
		telling.setTransactionExecutionListeners(listeners);
		return transactions;
	}

	/** Returns whether a store is asked for the first time to join a transaction. */
	boolean isFirstTry(IdempotencyStore store) {
		return this.tried.add(store);
	}

	PlatformTransactionManager manager() {
		return this.manager;
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
		if (failure == null && transaction instanceof DefaultTransactionStatus status
				&& status.isNewSynchronization()) {
			SpringSurroundingTransaction.begun(this.key);
		}
	}

	/** Is told directly before the commit, when nothing else can fail. */
	@Override
	public void beforeCommit(TransactionExecution transaction) {
		SpringSurroundingTransaction own = SpringSurroundingTransaction.bound(this.key);
		if (own != null) {
			own.commits();
		}
	}

	/**
	 * Returns the transaction that work of this manager would take part in now.
	 * @param current the innermost transaction of the calling thread, {@code null} if
	 * there is none
	 * @return the transaction, {@code null} if the manager has none or tells nobody when
	 * its transactions end
	 */
	@Nullable SurroundingTransaction open(@Nullable SurroundingTransaction current) {
		SurroundingTransaction own = SpringSurroundingTransaction.bound(this.key);
		if (own == current) {
			return own;
		}
		if (!synchronizes() || !isOpen()) {
			return null;
		}
		return (own != null) ? own : current;
	}

	/**
	 * Returns the transaction that the manager has just begun, or that the calling thread
	 * has just been found to take part in.
	 * @throws NoTransactionToJoinException if the transaction has reached its end, or the
	 * manager does not tell when its transactions end
	 */
	SpringSurroundingTransaction opened() {
		SpringSurroundingTransaction own = SpringSurroundingTransaction.bound(this.key);
		if (own == null && synchronizes()) {
			own = SpringSurroundingTransaction.current();
		}
		if (own != null && own.isEnding()) {
			throw over();
		}
		if (own == null) {
			throw new NoTransactionToJoinException(
					"There is no transaction to join: " + this.manager.getClass().getName()
							+ " tells nobody how its transactions end (transactionSynchronization)");
		}
		return own;
	}

	/**
	 * Makes the exception for a call that a transaction makes which has ended. Its
	 * connection is bound to the thread, but nobody will commit what is written now.
	 */
	NoTransactionToJoinException over() {
		return new NoTransactionToJoinException("There is no transaction to join: that of the calling thread, of "
				+ this.manager.getClass().getName() + ", has reached its end. Begin another one around the call "
				+ "(TransactionTemplate with PROPAGATION_REQUIRES_NEW), or set transaction = TransactionMode.SEPARATE");
	}

	private boolean synchronizes() {
		return !(this.manager instanceof AbstractPlatformTransactionManager known)
				|| known.getTransactionSynchronization() != AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER;
	}

	private boolean isOpen() {
		boolean alone = !TransactionSynchronizationManager.isSynchronizationActive();
		if (alone) {
			// Otherwise the look would begin the synchronization, and had to be ended.
			TransactionSynchronizationManager.initSynchronization();
		}
		try {
			return this.manager.getTransaction(LOOK).hasTransaction();
		}
		finally {
			if (alone) {
				TransactionSynchronizationManager.clearSynchronization();
			}
		}
	}

	/** Returns the name of the transaction manager, for messages. */
	@Override
	public String toString() {
		return "the transactions of " + this.manager.getClass().getName();
	}

	/** A key that is nobody else's. */
	private record Key(Object resource) {
	}

}
