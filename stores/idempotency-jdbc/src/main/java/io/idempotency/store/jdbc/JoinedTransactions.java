package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.NoTransactionToJoinException;
import io.idempotency.store.TransactionLostException;
import io.idempotency.store.jdbc.sql.Deadline;
import io.idempotency.store.jdbc.sql.Dialect;
import io.idempotency.store.jdbc.sql.JdbcVerbs;
import io.idempotency.store.jdbc.sql.LockWait;
import io.idempotency.store.jdbc.sql.SqlFailure;
import io.idempotency.store.jdbc.sql.SqlSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Runs verbs on the connection of the transaction that the calling thread is in.
 */
final class JoinedTransactions implements JdbcTransactions {

	private static final Logger logger = LoggerFactory.getLogger("io.idempotency.store.jdbc.JdbcIdempotencyStore");

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

	@Override
	public <T> T renew(SqlVerb<T> verb) {
		return run("renew", verb);
	}

	/**
	 * Runs a verb that only reads, if the transaction sees what others have committed and
	 * nothing else. A stricter isolation would keep its view from this moment on, which
	 * may be too early for the caller, or lock what is read. The transaction is left as
	 * it is, even if the verb fails.
	 * @return what was read, {@code null} if it has to be read elsewhere
	 */
	<T> @Nullable T look(SqlVerb<T> verb) {
		DataSource dataSource = this.database.dataSource();
		if (!isIn(dataSource) || lost() != null || !readsWhatIsCommitted()) {
			return null;
		}
		Connection connection = null;
		try {
			connection = connection("look", dataSource);
			return connection.getAutoCommit() ? null : look(connection, verb);
		}
		catch (SQLException | IdempotencyStoreException ex) {
			logger.debug("The transaction of the caller could not be used for a look", ex);
			return null;
		}
		finally {
			DataSourceUtils.releaseConnection(connection, dataSource);
		}
	}

	private <T> T look(Connection connection, SqlVerb<T> verb) throws SQLException {
		try (Deadline deadline = JdbcDatabase.begin("look", connection, this.timeouts.call(), System.nanoTime())) {
			Dialect dialect = this.database.dialect(connection);
			SqlSession session = SqlSession.looking(connection, deadline, dialect.lookWait(this.timeouts.lock()));
			return session.bounded(() -> verb.run(new JdbcVerbs(dialect), session));
		}
	}

	private boolean readsWhatIsCommitted() {
		Integer asked = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
		return ((asked != null) ? asked : this.database.isolation()) == Connection.TRANSACTION_READ_COMMITTED;
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
		if (!isIn(dataSource)) {
			throw noTransaction(what);
		}
		Lost lost = lost();
		if (lost != null) {
			throw lost.failure();
		}
	}

	private static boolean isIn(DataSource dataSource) {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive()
				&& TransactionSynchronizationManager.getResource(dataSource) instanceof ConnectionHolder;
	}

	private static @Nullable Lost lost() {
		return (Lost) TransactionSynchronizationManager.getSynchronizations()
			.stream()
			.filter(Lost.class::isInstance)
			.findAny()
			.orElse(null);
	}

	private static NoTransactionToJoinException noTransaction(String what) {
		return new NoTransactionToJoinException("There is no transaction for '" + what
				+ "' to join: transaction = JOIN needs a transaction manager of the store's own DataSource that exposes"
				+ " its JDBC connection. Name that manager by @Transactional or mark it as @Primary, or let the store"
				+ " use the DataSource of the one that is there");
	}

	/**
	 * Tells a failure of the caller's transaction from a failure of the store. After a
	 * deadlock or a conflict, no statement can save the transaction, and on some
	 * databases the next one would begin another transaction, without the earlier work.
	 */
	private RuntimeException failure(String what, Connection connection, SQLException ex) {
		try {
			Dialect dialect = this.database.dialect(connection);
			SqlFailure failure = dialect.classify(ex);
			if (failure == SqlFailure.DEADLOCK || failure == SqlFailure.SERIALIZATION
					|| dialect.endsTransaction(connection, failure)) {
				Lost lost = new Lost(asTheApplicationSeesIt(what, ex));
				TransactionSynchronizationManager.registerSynchronization(lost);
				return lost.failure();
			}
			if (failure == SqlFailure.ABORTED) {
				return new UnexpectedRollbackException("The transaction that '" + what + "' joins can only be rolled"
						+ " back, because an earlier statement in it has failed. The failure of a statement must leave"
						+ " the method, or be undone by a savepoint", ex);
			}
			if (failure == SqlFailure.READ_ONLY) {
				return new IllegalStateException("The transaction that '" + what + "' joins is read-only, and"
						+ " transaction = JOIN keeps its record there. Let the transaction write, or take"
						+ " TransactionMode.SEPARATE", ex);
			}
		}
		catch (SQLException suppressed) {
			ex.addSuppressed(suppressed);
		}
		return JdbcDatabase.failure(what, ex);
	}

	/**
	 * As a statement of the application would have failed, so that it is handled alike.
	 */
	private static DataAccessException asTheApplicationSeesIt(String what, SQLException ex) {
		DataAccessException translated = new SQLExceptionSubclassTranslator()
			.translate("'" + what + "' of an idempotency record", null, ex);
		return (translated != null) ? translated : new UncategorizedSQLException(what, null, ex);
	}

	/**
	 * Keeps a transaction that the database has given up from being committed.
	 *
	 * @param cause why
	 */
	private record Lost(DataAccessException cause) implements TransactionSynchronization {

		TransactionLostException failure() {
			return new TransactionLostException("The database has given up the whole transaction, because of a deadlock"
					+ " or of a conflict with another transaction; run it again", this.cause);
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			throw failure();
		}

	}

}
