package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs verbs on connections of their own, each statement in a transaction of its own: so
 * a verb neither joins nor ends nor locks what the caller has begun. Who was the victim
 * of a deadlock or of a strict isolation has changed nothing, and tries again.
 */
final class OwnTransactions {

	/** Under a strict isolation everybody but one fails in each round. */
	private static final int MAX_ATTEMPTS = 100;

	private static final int MAX_PAUSE_MILLIS = 10;

	private final JdbcDatabase database;

	OwnTransactions(JdbcDatabase database) {
		this.database = database;
	}

	<T> T run(String what, SqlVerb<T> verb) {
		return this.database.onOwnConnection(what, (connection) -> run(connection, verb));
	}

	private <T> T run(Connection connection, SqlVerb<T> verb) throws SQLException {
		Dialect dialect = this.database.dialect(connection);
		JdbcVerbs verbs = new JdbcVerbs(dialect);
		SqlSession session = SqlSession.own(connection);
		return repeat(dialect, () -> verb.run(verbs, session));
	}

	int purge(int batchSize) {
		return this.database.onOwnConnection("purge", (connection) -> {
			Dialect dialect = this.database.dialect(connection);
			return repeat(dialect, () -> dialect.purge(connection, batchSize));
		});
	}

	private static <T> T repeat(Dialect dialect, Attempted<T> attempted) throws SQLException {
		for (int attempt = 1;; attempt++) {
			try {
				return attempted.run();
			}
			catch (SQLException ex) {
				SqlFailure failure = dialect.classify(ex);
				boolean repeatable = failure == SqlFailure.DEADLOCK || failure == SqlFailure.SERIALIZATION;
				if (!repeatable || attempt == MAX_ATTEMPTS) {
					throw ex;
				}
				pause(attempt);
			}
		}
	}

	/** Who met once meets again unless one of them waits. */
	private static void pause(int attempt) {
		long longest = TimeUnit.MILLISECONDS.toNanos(Math.min(attempt, MAX_PAUSE_MILLIS));
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(longest));
	}

	/**
	 * What may be tried again.
	 *
	 * @param <T> what it gives
	 */
	private interface Attempted<T> {

		T run() throws SQLException;

	}

}
