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

	private static final int MAX_ATTEMPTS = 10;

	private final JdbcDatabase database;

	OwnTransactions(JdbcDatabase database) {
		this.database = database;
	}

	<T> T run(String what, Verb<T> verb) {
		return this.database.onOwnConnection(what, (connection) -> run(connection, verb));
	}

	private <T> T run(Connection connection, Verb<T> verb) throws SQLException {
		Dialect dialect = this.database.dialect(connection);
		JdbcVerbs verbs = new JdbcVerbs(dialect);
		SqlSession session = SqlSession.own(connection);
		for (int attempt = 1;; attempt++) {
			try {
				return verb.run(verbs, session);
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
		LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(TimeUnit.MILLISECONDS.toNanos(attempt)));
	}

}
