package io.idempotency.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Function;

import io.idempotency.store.jdbc.ReservedConnections.Use;
import io.idempotency.store.sql.Dialect;
import io.idempotency.store.sql.LockWait;
import io.idempotency.store.sql.SqlFailure;
import io.idempotency.store.sql.Timeouts;

/**
 * Opens sessions on connections of their own, even if the thread is in a transaction.
 * Each statement is a transaction. So a verb neither joins nor ends the transaction of
 * the caller. A verb that was the victim of a deadlock or of a strict isolation has
 * changed nothing, so it is run again.
 */
final class OwnSessionSource implements SqlSessionSource {

	/** Under a strict isolation, all calls but one fail in each round. */
	private static final int MAX_ATTEMPTS = 100;

	private final JdbcDatabase database;

	private final Timeouts timeouts;

	OwnSessionSource(JdbcDatabase database) {
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

	/** Opens a session for a verb that waits for no lock. */
	SqlSession openLook() {
		return open(this.database, "look", Use.CALL, this.timeouts.call(), (dialect) -> LockWait.NONE);
	}

	SqlSession openPurge() {
		return openUpkeep(this.database, "purge", Timeouts.PURGE);
	}

	/** Opens a session for what no call waits for, and may take long. */
	static SqlSession openUpkeep(JdbcDatabase database, String what, Duration most) {
		return open(database, what, Use.UPKEEP, most, (dialect) -> LockWait.NONE);
	}

	/**
	 * The wait for a connection from the pool counts as a part of the time that the
	 * session may take, but at least a quarter of that time is left for the verb.
	 */
	private static SqlSession open(JdbcDatabase database, String what, Use use, Duration most,
			Function<Dialect, LockWait> lockWait) {
		OwnConnection own = OwnConnection.open(database, what, use, most);
		try {
			Dialect dialect = database.dialectOfOwn(own.connection());
			return new OwnSession(database, what, own, dialect, lockWait.apply(dialect));
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

	private static final class OwnSession extends SqlSession {

		private final JdbcDatabase database;

		private final String what;

		private final OwnConnection own;

		OwnSession(JdbcDatabase database, String what, OwnConnection own, Dialect dialect, LockWait lockWait)
				throws SQLException {
			super(own.connection(), own.deadline(), dialect, lockWait, false, !own.connection().getAutoCommit());
			this.database = database;
			this.what = what;
			this.own = own;
		}

		@Override
		void failed(SQLException ex, int attempt) {
			SqlFailure failure = dialect().classify(ex.getSQLState(), ex.getErrorCode());
			boolean repeatable = failure == SqlFailure.DEADLOCK || failure == SqlFailure.SERIALIZATION;
			if (isOver() && failure == SqlFailure.OTHER) {
				this.database.waitedInVain();
			}
			if (!repeatable || attempt >= MAX_ATTEMPTS || isOver()) {
				throw JdbcDatabase.failure(this.what, ex);
			}
			pause(attempt);
		}

		@Override
		void release() {
			this.own.close();
		}

	}

}
