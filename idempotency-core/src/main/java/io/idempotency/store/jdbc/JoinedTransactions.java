package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

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
final class JoinedTransactions implements JdbcTransactions {

	private static final int MAX_ATTEMPTS = 10;

	private final JdbcDatabase database;

	private final Timeouts timeouts;

	JoinedTransactions(JdbcDatabase database, Timeouts timeouts) {
		this.database = database;
		this.timeouts = timeouts;
	}

	@Override
	public <T> T run(String what, SqlVerb<T> verb) {
		return onConnection(what, this.timeouts.call(),
				(connection, deadline) -> verb.run(new JdbcVerbs(this.database.dialect(connection)),
						SqlSession.joined(connection, deadline, LockWait.NONE)));
	}

	@Override
	public <T> T claim(SqlVerb<T> verb) {
		return onConnection("claim", this.timeouts.waiting().plus(this.timeouts.call()), (connection, deadline) -> {
			Dialect dialect = this.database.dialect(connection);
			SqlSession session = SqlSession.joined(connection, deadline, dialect.lockWait(this.timeouts.waiting()));
			return session.bounded(() -> repeat(dialect, session, verb));
		});
	}

	private static <T> T repeat(Dialect dialect, SqlSession session, SqlVerb<T> verb) throws SQLException {
		JdbcVerbs verbs = new JdbcVerbs(dialect);
		for (int attempt = 1;; attempt++) {
			try {
				return verb.run(verbs, session);
			}
			catch (SQLException ex) {
				SqlFailure failure = dialect.classify(ex);
				if (failure != SqlFailure.DEADLOCK || attempt == MAX_ATTEMPTS
						|| dialect.endsTransaction(session.connection(), failure)) {
					throw ex;
				}
			}
		}
	}

	private <T> T onConnection(String what, Duration most, JdbcDatabase.OnConnection<T> work) {
		DataSource dataSource = this.database.dataSource();
		requireTransaction(what, dataSource);
		Connection connection = connection(what, dataSource);
		try {
			if (connection.getAutoCommit()) {
				throw noTransaction(what);
			}
			try (Deadline deadline = JdbcDatabase.begin(what, connection, most, System.nanoTime())) {
				return work.run(connection, deadline);
			}
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
			throw JdbcDatabase.unreached(what, ex);
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

	/**
	 * Makes an exception that is not a failure of the store, because a repeated call
	 * would fail in the same way.
	 */
	private static IllegalStateException noTransaction(String what) {
		return new IllegalStateException("There is no transaction for '" + what
				+ "' to join: transaction = JOIN needs a transaction manager of the store's own DataSource that exposes"
				+ " its JDBC connection. Name that manager by @Transactional or mark it as @Primary, or let the store"
				+ " use the DataSource of the one that is there");
	}

	private IdempotencyStoreException failure(String what, Connection connection, SQLException ex) {
		try {
			Dialect dialect = this.database.dialect(connection);
			if (dialect.endsTransaction(connection, dialect.classify(ex))) {
				// The next statement would begin another transaction, without the earlier
				// work.
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
