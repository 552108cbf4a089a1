package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.TransactionLostException;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Runs verbs on the connection of the transaction that the calling thread is in.
 */
final class JoinedTransactions {

	private static final int MAX_ATTEMPTS = 10;

	private final JdbcDatabase database;

	private final Duration waitTimeout;

	JoinedTransactions(JdbcDatabase database, Duration waitTimeout) {
		this.database = database;
		this.waitTimeout = waitTimeout;
	}

	ClaimResult claim(ClaimRequest request) {
		return onConnection("claim", (connection) -> {
			Dialect dialect = this.database.dialect(connection);
			LockWait bound = dialect.lockWait(this.waitTimeout);
			bound.begin(connection);
			ClaimResult result;
			try {
				result = claim(dialect, SqlSession.joined(connection).with(bound), request);
			}
			catch (SQLException ex) {
				end(bound, connection, ex);
				throw ex;
			}
			bound.end(connection);
			return result;
		});
	}

	private static void end(LockWait bound, Connection connection, SQLException failure) {
		try {
			bound.end(connection);
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
	}

	private ClaimResult claim(Dialect dialect, SqlSession session, ClaimRequest request) throws SQLException {
		JdbcVerbs verbs = new JdbcVerbs(dialect);
		for (int attempt = 1;; attempt++) {
			try {
				return verbs.claim(session, request);
			}
			catch (SQLException ex) {
				SqlFailure failure = dialect.classify(ex);
				if (dialect.endsTransaction(session.connection(), failure)) {
					throw ex;
				}
				if (failure == SqlFailure.LOCK_TIMEOUT || failure == SqlFailure.SERIALIZATION) {
					return new ClaimResult.InProgress(JdbcVerbs.UNKNOWN_REST);
				}
				if (failure != SqlFailure.DEADLOCK || attempt == MAX_ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	<T> T run(String what, SqlVerb<T> verb) {
		return onConnection(what, (connection) -> verb.run(new JdbcVerbs(this.database.dialect(connection)),
				SqlSession.joined(connection)));
	}

	private <T> T onConnection(String what, JdbcDatabase.OnConnection<T> work) {
		DataSource dataSource = this.database.dataSource();
		requireTransaction(what, dataSource);
		Connection connection = connection(what, dataSource);
		try {
			if (connection.getAutoCommit()) {
				throw noTransaction(what);
			}
			return work.run(connection);
		}
		catch (SQLException ex) {
			throw failure(what, connection, ex);
		}
		finally {
			DataSourceUtils.releaseConnection(connection, dataSource);
		}
	}

	private static Connection connection(String what, DataSource dataSource) {
		try {
			return DataSourceUtils.getConnection(dataSource);
		}
		catch (CannotGetJdbcConnectionException ex) {
			throw new IdempotencyStoreException("There is no connection for '" + what + "'", ex);
		}
	}

	private static void requireTransaction(String what, DataSource dataSource) {
		if (!TransactionSynchronizationManager.isActualTransactionActive()
				|| !TransactionSynchronizationManager.isSynchronizationActive()
				|| !(TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder)) {
			throw noTransaction(what);
		}
		if (TransactionSynchronizationManager.getSynchronizations().stream().anyMatch(Lost.class::isInstance)) {
			throw Lost.failure(null);
		}
	}

	private static IdempotencyStoreException noTransaction(String what) {
		return new IdempotencyStoreException("There is no transaction for '" + what
				+ "' to join: the thread must be in one of the store's own DataSource, begun by a transaction manager"
				+ " that exposes its JDBC connection");
	}

	private IdempotencyStoreException failure(String what, Connection connection, SQLException ex) {
		try {
			Dialect dialect = this.database.dialect(connection);
			if (dialect.endsTransaction(connection, dialect.classify(ex))) {
				// The next statement would begin another one, without what was done
				// before.
				TransactionSynchronizationManager.registerSynchronization(new Lost());
				return Lost.failure(ex);
			}
		}
		catch (SQLException suppressed) {
			ex.addSuppressed(suppressed);
		}
		return JdbcDatabase.failure(what, ex);
	}

	/** Keeps a transaction that the database has rolled back from being committed. */
	private static final class Lost implements TransactionSynchronization {

		static TransactionLostException failure(@Nullable Throwable cause) {
			return new TransactionLostException(
					"The database has rolled back the whole transaction, most likely to end a deadlock; run it again",
					cause);
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			throw failure(null);
		}

	}

}
