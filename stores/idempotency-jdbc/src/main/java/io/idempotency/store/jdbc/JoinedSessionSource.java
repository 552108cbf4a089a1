package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Function;

import javax.sql.DataSource;

import io.idempotency.store.NoTransactionToJoinException;
import io.idempotency.store.TransactionLostException;
import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.Dialect.Timeouts;
import io.idempotency.store.sql.SqlStep;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Opens sessions on the connection of the transaction that the calling thread is in.
 */
final class JoinedSessionSource implements SqlSession.Source {

	private static final int MAX_ATTEMPTS = 10;

	private final JdbcDatabase database;

	private final Timeouts timeouts;

	JoinedSessionSource(JdbcDatabase database) {
		this.database = database;
		this.timeouts = database.timeouts();
	}

	@Override
	public SqlSession open(String what) {
		return open(what, 1, this.timeouts.call(), (dialect) -> LockWait.NONE);
	}

	@Override
	public SqlSession openClaim(boolean alone) {
		Duration bound = this.timeouts.waiting();
		return open("claim", alone ? 1 : MAX_ATTEMPTS, bound.plus(this.timeouts.call()),
				(dialect) -> alone ? dialect.lockWaitAlone(bound) : dialect.lockWait(bound));
	}

	/**
	 * Opens a session for an operation that only reads, if the transaction sees exactly
	 * the committed data of others. A stricter isolation would fix its snapshot at this
	 * moment, which may be too early for the caller, or would lock the rows that it
	 * reads. A clock that stands still would show expired results. The transaction is not
	 * changed, even if the operation fails.
	 * @return the session, {@code null} if the operation must read elsewhere
	 */
	@Nullable SqlSession openLook() {
		DataSource dataSource = this.database.dataSource();
		if (!isIn(dataSource) || lost() != null || !readsWhatIsCommitted() || !this.database.clockGoesOn()) {
			return null;
		}
		return open("look", 0, this.timeouts.call(), (dialect) -> dialect.lookWait(this.timeouts.lock()));
	}

	private boolean readsWhatIsCommitted() {
		Integer asked = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
		return ((asked != null) ? asked : this.database.isolation()) == Connection.TRANSACTION_READ_COMMITTED;
	}

	private SqlSession open(String what, int attempts, Duration most, Function<Dialect, LockWait> lockWait) {
		DataSource dataSource = this.database.dataSource();
		requireTransaction(what, dataSource);
		Connection connection = connection(what, dataSource);
		Deadline deadline = null;
		JoinedSession session = null;
		try {
			if (connection.getAutoCommit()) {
				throw noTransaction(what);
			}
			deadline = JdbcDatabase.begin(what, connection, most);
			Dialect dialect = this.database.dialect(connection);
			session = new JoinedSession(what, connection, deadline, dialect, lockWait.apply(dialect), attempts);
			return session;
		}
		catch (SQLException ex) {
			throw JdbcDatabase.failure(what, ex);
		}
		finally {
			if (session == null) {
				release(connection, deadline);
			}
		}
	}

	private void release(Connection connection, @Nullable Deadline deadline) {
		if (deadline != null) {
			deadline.close();
		}
		DataSourceUtils.releaseConnection(connection, this.database.dataSource());
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
		return new NoTransactionToJoinException("No transaction is available to join for '" + what
				+ "': transaction = JOIN requires a transaction manager of the store's DataSource that exposes its "
				+ "JDBC connection. Name that manager in @Transactional or annotate it with @Primary, or use the "
				+ "DataSource of the existing manager for the store");
	}

	private final class JoinedSession extends SqlSession {

		private final String what;

		private final Deadline deadline;

		private final int attempts;

		JoinedSession(String what, Connection connection, Deadline deadline, Dialect dialect, LockWait lockWait,
				int attempts) throws SQLException {
			super(connection, deadline, dialect, lockWait, attempts > 0, false);
			this.what = what;
			this.deadline = deadline;
			this.attempts = attempts;
		}

		@Override
		void failed(SQLException ex, int attempt) {
			if (attempt >= this.attempts || !mayGoOn(ex)) {
				throw this.joined ? failure(ex) : JdbcDatabase.failure(this.what, ex);
			}
		}

		/**
		 * Returns whether the claim has met a deadlock that it alone was the victim of.
		 */
		private boolean mayGoOn(SQLException ex) {
			SqlStep.Failure failure = dialect().classify(ex.getSQLState(), ex.getErrorCode());
			return failure == SqlStep.Failure.DEADLOCK && !endsTransaction(failure, ex);
		}

		/**
		 * Distinguishes a failure of the caller's transaction from a failure of the
		 * store. After a deadlock or a conflict, no statement can save the transaction.
		 * On some databases, the next statement would begin another transaction without
		 * the earlier work.
		 */
		private RuntimeException failure(SQLException ex) {
			SqlStep.Failure failure = dialect().classify(ex.getSQLState(), ex.getErrorCode());
			if (failure == SqlStep.Failure.DEADLOCK || failure == SqlStep.Failure.SERIALIZATION
					|| endsTransaction(failure, ex)) {
				Lost lost = new Lost(conflict(this.what, ex));
				TransactionSynchronizationManager.registerSynchronization(lost);
				return lost.failure();
			}
			if (failure == SqlStep.Failure.ABORTED) {
				return new UnexpectedRollbackException("The transaction that '" + this.what
						+ "' joins can only be rolled back, because an earlier statement in it failed, or the database "
						+ "ended it after it was idle for too long. Let the exception leave the method, or roll back to a "
						+ "savepoint", ex);
			}
			if (failure == SqlStep.Failure.READ_ONLY) {
				return new IllegalStateException("The transaction that '" + this.what + "' joins is read-only, so "
						+ "it cannot store the record. Use a read-write transaction, or set transaction = "
						+ "TransactionMode.SEPARATE", ex);
			}
			return JdbcDatabase.failure(this.what, ex);
		}

		private boolean endsTransaction(SqlStep.Failure failure, SQLException ex) {
			try {
				return run(dialect().endsTransaction(failure));
			}
			catch (SQLException suppressed) {
				ex.addSuppressed(suppressed);
				return false;
			}
		}

		@Override
		void release() {
			JoinedSessionSource.this.release(connection(), this.deadline);
		}

	}

	/**
	 * Returns the exception that a statement of the application would have thrown, but
	 * always one that the application retries. Spring does not translate every error
	 * code.
	 */
	private static ConcurrencyFailureException conflict(String what, SQLException ex) {
		String task = "'" + what + "' of an idempotency record";
		return (new SQLExceptionSubclassTranslator().translate(task, null,
				ex) instanceof ConcurrencyFailureException conflict) ? conflict
						: new ConcurrencyFailureException(task, ex);
	}

	/**
	 * Prevents the commit of a transaction that the database has aborted.
	 *
	 * @param cause the reason
	 */
	private record Lost(ConcurrencyFailureException cause) implements TransactionSynchronization {

		TransactionLostException failure() {
			return new TransactionLostException("The database rolled back the whole transaction because of a "
					+ "deadlock or a conflict with another transaction. Run it again", this.cause);
		}

		@Override
		public void beforeCommit(boolean readOnly) {
			throw failure();
		}

	}

}
