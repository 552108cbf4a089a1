package io.idempotency.store.r2dbc;

import io.idempotency.store.NoTransactionToJoinException;
import io.idempotency.store.TransactionLostException;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcException;
import reactor.core.publisher.Mono;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DataAccessException;
import org.springframework.r2dbc.connection.ConnectionFactoryUtils;
import org.springframework.r2dbc.connection.ConnectionHolder;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * Accesses Spring's transactions. A separate class, because an application may use its
 * database without Spring's support for R2DBC, and has no transactions to join in that
 * case.
 */
final class JoinedConnections {

	/** Whether Spring's support for R2DBC is present. */
	static final boolean PRESENT = isPresent();

	private JoinedConnections() {
	}

	private static boolean isPresent() {
		try {
			Class.forName("org.springframework.r2dbc.connection.ConnectionHolder", false,
					JoinedConnections.class.getClassLoader());
			return true;
		}
		catch (ClassNotFoundException | LinkageError notThere) {
			return false;
		}
	}

	/** Finds the connection of the transaction that the subscriber is in. */
	static Mono<Connection> current(String what, ConnectionFactory connections) {
		return TransactionSynchronizationManager.forCurrentTransaction()
			.filter(TransactionSynchronizationManager::isActualTransactionActive)
			.mapNotNull((transaction) -> transaction.getResource(connections))
			.ofType(ConnectionHolder.class)
			.map(ConnectionHolder::getConnection)
			.onErrorResume(NoTransactionException.class, (none) -> Mono.empty())
			.switchIfEmpty(Mono.error(() -> noTransaction(what)));
	}

	private static NoTransactionToJoinException noTransaction(String what) {
		return new NoTransactionToJoinException("No transaction is available to join for '" + what
				+ "': transaction = JOIN requires a ReactiveTransactionManager of the store's ConnectionFactory, "
				+ "such as R2dbcTransactionManager. Name that manager in @Transactional or annotate it with "
				+ "@Primary, or use the ConnectionFactory of the existing manager for the store");
	}

	/**
	 * As a statement of the application would have failed, but always as an exception
	 * that the application repeats. Drivers do not classify every code.
	 */
	static TransactionLostException lost(String what, R2dbcException failure) {
		String task = "'" + what + "' of an idempotency record";
		DataAccessException translated = ConnectionFactoryUtils.convertR2dbcException(task, null, failure);
		return new TransactionLostException(
				"The database rolled back the whole transaction because of a deadlock or a conflict with another "
						+ "transaction. Run it again",
				(translated instanceof ConcurrencyFailureException) ? translated
						: new ConcurrencyFailureException(task, failure));
	}

	static UnexpectedRollbackException aborted(String what, R2dbcException failure) {
		return new UnexpectedRollbackException("The transaction that '" + what
				+ "' joins can only be rolled back, because an earlier statement in it failed, or the database "
				+ "ended it after it was idle for too long. Let the error leave the method, or roll back to a savepoint",
				failure);
	}

}
