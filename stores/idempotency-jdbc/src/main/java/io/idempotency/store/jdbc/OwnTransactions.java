package io.idempotency.store.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Function;

import io.idempotency.store.jdbc.ReservedConnections.Use;
import io.idempotency.store.jdbc.sql.Deadline;
import io.idempotency.store.jdbc.sql.Dialect;
import io.idempotency.store.jdbc.sql.JdbcVerbs;
import io.idempotency.store.jdbc.sql.LockWait;
import io.idempotency.store.jdbc.sql.SqlFailure;
import io.idempotency.store.jdbc.sql.SqlSession;

/**
 * Runs verbs on connections of their own, each statement in a transaction of its own. So
 * a verb neither joins nor ends the transaction of the caller. A verb that was the victim
 * of a deadlock or of a strict isolation has changed nothing, so it is run again.
 */
final class OwnTransactions implements JdbcTransactions {

	/** Under a strict isolation, all calls but one fail in each round. */
	private static final int MAX_ATTEMPTS = 100;

	private final JdbcDatabase database;

	private final Timeouts timeouts;

	OwnTransactions(JdbcDatabase database, Timeouts timeouts) {
		this.database = database;
		this.timeouts = timeouts;
	}

	@Override
	public <T> T run(String what, SqlVerb<T> verb) {
		return run(what, Use.CALL, this.timeouts.lock(), verb);
	}

	@Override
	public <T> T claim(SqlVerb<T> verb) {
		return run("claim", Use.CALL, this.timeouts.claim(), verb);
	}

	@Override
	public <T> T renew(SqlVerb<T> verb) {
		return run("renew", Use.RENEWAL, this.timeouts.lock(), verb);
	}

	/** Runs a verb that waits for no lock. */
	<T> T read(String what, SqlVerb<T> verb) {
		return run(what, Use.CALL, (dialect) -> LockWait.NONE, verb);
	}

	private <T> T run(String what, Use use, Duration lock, SqlVerb<T> verb) {
		return run(what, use, (dialect) -> dialect.ownLockWait(lock), verb);
	}

	private <T> T run(String what, Use use, Function<Dialect, LockWait> lockWait, SqlVerb<T> verb) {
		return this.database.onOwnConnection(what, use, this.timeouts.call(), (connection, deadline) -> {
			Dialect dialect = this.database.dialect(connection);
			SqlSession session = SqlSession.own(connection, deadline, lockWait.apply(dialect));
			JdbcVerbs verbs = new JdbcVerbs(dialect);
			return session.bounded(() -> repeat(dialect, deadline, () -> verb.run(verbs, session)));
		});
	}

	int purge(int batchSize) {
		return this.database.onOwnConnection("purge", Use.UPKEEP, Timeouts.PURGE, (connection, deadline) -> {
			Dialect dialect = this.database.dialect(connection);
			SqlSession session = SqlSession.own(connection, deadline, LockWait.NONE);
			return repeat(dialect, deadline, () -> dialect.purge(session, batchSize));
		});
	}

	private static <T> T repeat(Dialect dialect, Deadline deadline, SqlSession.Work<T> work) throws SQLException {
		for (int attempt = 1;; attempt++) {
			try {
				return work.run();
			}
			catch (SQLException ex) {
				SqlFailure failure = dialect.classify(ex);
				boolean repeatable = failure == SqlFailure.DEADLOCK || failure == SqlFailure.SERIALIZATION;
				if (!repeatable || attempt == MAX_ATTEMPTS || deadline.isOver()) {
					throw ex;
				}
				JdbcVerbs.pause(attempt);
			}
		}
	}

}
