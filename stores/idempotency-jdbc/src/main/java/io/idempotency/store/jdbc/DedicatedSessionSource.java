package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Function;

import io.idempotency.store.jdbc.DedicatedConnections.Use;
import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.Dialect.Timeouts;
import io.idempotency.store.sql.SqlStep;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Opens sessions on separate connections, even if the thread is in a transaction. Each
 * statement is a transaction, so an operation neither joins nor ends the transaction of
 * the caller. An operation that was the victim of a deadlock or of a strict isolation has
 * changed nothing, so it is run again.
 */
final class DedicatedSessionSource implements SqlSession.Source {

	/** Under a strict isolation, all calls but one fail in each round. */
	private static final int MAX_ATTEMPTS = 100;

	private final JdbcDatabase database;

	private final Timeouts timeouts;

	DedicatedSessionSource(JdbcDatabase database) {
		this.database = database;
		this.timeouts = database.timeouts();
	}

	@Override
	public SqlSession open(String what) {
		return open(what, Use.CALL, this.timeouts.lock());
	}

	@Override
	public SqlSession openClaim(boolean alone) {
		return open("claim", Use.CALL, this.timeouts.claim());
	}

	@Override
	public SqlSession openRenewal() {
		return open("renew", Use.RENEWAL, this.timeouts.lock());
	}

	private SqlSession open(String what, Use use, Duration lock) {
		return open(this.database, what, use, this.timeouts.call(),
				(dialect) -> this.database.needsCare() ? dialect.carefulLockWait(lock) : dialect.ownLockWait(lock));
	}

	/** Opens a session for an operation that waits for no lock. */
	SqlSession openLook() {
		return open(this.database, "look", Use.CALL, this.timeouts.call(), (dialect) -> LockWait.NONE);
	}

	SqlSession openPurge() {
		return openMaintenance(this.database, "purge", Timeouts.PURGE);
	}

	/** Opens a session for a long operation that no call waits for. */
	static SqlSession openMaintenance(JdbcDatabase database, String what, Duration most) {
		return open(database, what, Use.MAINTENANCE, most, (dialect) -> LockWait.NONE);
	}

	private static SqlSession open(JdbcDatabase database, String what, Use use, Duration most,
			Function<Dialect, LockWait> lockWait) {
		DedicatedConnection own = DedicatedConnection.open(database, what, use, most);
		try {
			Dialect dialect = database.dialectOfOwn(own.connection());
			return new DedicatedSession(database, what, own, dialect, lockWait.apply(dialect));
		}
		catch (SQLException ex) {
			own.close();
			throw JdbcDatabase.failure(what, ex);
		}
		catch (Throwable ex) {
			own.close();
			throw ex;
		}
	}

	private static final class DedicatedSession extends SqlSession {

		private final JdbcDatabase database;

		private final String what;

		private final DedicatedConnection own;

		DedicatedSession(JdbcDatabase database, String what, DedicatedConnection own, Dialect dialect,
				LockWait lockWait) throws SQLException {
			super(own.connection(), own.deadline(), dialect, lockWait, false, !own.connection().getAutoCommit());
			this.database = database;
			this.what = what;
			this.own = own;
		}

		@Override
		void failed(SQLException ex, int attempt) {
			SqlStep.Failure failure = dialect().classify(ex.getSQLState(), ex.getErrorCode());
			boolean repeatable = failure == SqlStep.Failure.DEADLOCK || failure == SqlStep.Failure.SERIALIZATION;
			if (isOver() && failure == SqlStep.Failure.OTHER) {
				this.database.waitedInVain();
			}
			if (isOver()) {
				throw JdbcDatabase.notInTime(this.what, ex);
			}
			if (!repeatable || attempt >= MAX_ATTEMPTS) {
				throw JdbcDatabase.failure(this.what, ex);
			}
			pause(attempt);
		}

		@Override
		void release() {
			this.own.close();
		}

	}

	/**
	 * A separate connection, even if the thread is in a transaction.
	 *
	 * @param deadline the end of the call
	 * @param dedicated the dedicated connections if this is one of them
	 * @param inReadOnly whether the thread is in a transaction that only reads. The data
	 * source may choose a replica for such a transaction, so it is called as if outside
	 * of that transaction.
	 */
	private record DedicatedConnection(Connection connection, Deadline deadline,
			@Nullable DedicatedConnections dedicated, Use use, boolean inReadOnly) implements AutoCloseable {

		private static final Logger logger = LoggerFactory.getLogger(DedicatedSessionSource.class);

		/**
		 * Opens a connection. Some pools connect only when the connection is first used.
		 * The first use is part of this method, so every failure means that no connection
		 * is available.
		 */
		static DedicatedConnection open(JdbcDatabase database, String what, Use use, Duration most) {
			boolean inReadOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
			DedicatedConnections dedicated = database.dedicatedTo(use);
			Connection connection = null;
			DedicatedConnection own = null;
			try {
				setReadOnly(inReadOnly, false);
				connection = (dedicated != null) ? dedicated.open(use, most) : database.dataSource().getConnection();
				own = new DedicatedConnection(connection, new Deadline(connection, most), dedicated, use, inReadOnly);
				return own;
			}
			catch (SQLException | RuntimeException ex) {
				// Some pools throw their own exceptions when the database is unavailable.
				throw JdbcDatabase.unreached(what, ex);
			}
			finally {
				if (own == null) {
					giveBack(connection, dedicated, use, inReadOnly);
				}
			}
		}

		private static void setReadOnly(boolean inReadOnly, boolean shown) {
			if (inReadOnly) {
				TransactionSynchronizationManager.setCurrentTransactionReadOnly(shown);
			}
		}

		@Override
		public void close() {
			this.deadline.close();
			giveBack(this.connection, this.dedicated, this.use, this.inReadOnly);
		}

		private static void giveBack(@Nullable Connection connection, @Nullable DedicatedConnections dedicated, Use use,
				boolean inReadOnly) {
			try {
				if (connection != null) {
					connection.close();
				}
			}
			catch (SQLException | RuntimeException ex) {
				// The work is done already, or its own failure is about to be thrown.
				logger.debug("A connection could not be closed", ex);
			}
			finally {
				if (connection != null && dedicated != null) {
					dedicated.released(use);
				}
				setReadOnly(inReadOnly, true);
			}
		}

	}

}
