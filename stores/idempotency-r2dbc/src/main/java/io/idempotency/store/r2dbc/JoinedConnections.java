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
 * Knows the transactions of Spring. Apart, because an application may reach its database
 * without Spring's support for R2DBC, and then has none to join.
 */
final class JoinedConnections {

	/** Whether there is that support. */
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
		return new NoTransactionToJoinException("There is no transaction for '" + what
				+ "' to join: transaction = JOIN needs a ReactiveTransactionManager of the store's own ConnectionFactory, "
				+ "such as R2dbcTransactionManager. Name that manager by @Transactional or mark it as @Primary, or let the "
				+ "store use the ConnectionFactory of the one that is there");
	}

	/**
	 * As a statement of the application would have failed, but always as an exception
	 * that the application repeats. Drivers do not classify every code.
	 */
	static TransactionLostException lost(String what, R2dbcException failure) {
		String task = "'" + what + "' of an idempotency record";
		DataAccessException translated = ConnectionFactoryUtils.convertR2dbcException(task, null, failure);
		return new TransactionLostException(
				"The database has given up the whole transaction, because of a deadlock or of a conflict with another "
						+ "transaction; run it again",
				(translated instanceof ConcurrencyFailureException) ? translated
						: new ConcurrencyFailureException(task, failure));
	}

	static UnexpectedRollbackException aborted(String what, R2dbcException failure) {
		return new UnexpectedRollbackException("The transaction that '" + what
				+ "' joins can only be rolled back, because an earlier statement in it has failed, or the database "
				+ "ended it after it was idle for too long. The failure of a statement must leave the method, or be undone "
				+ "by a savepoint", failure);
	}

}
