package io.idempotency.store.jdbc;

import java.sql.SQLException;

import io.idempotency.store.jdbc.sql.JdbcVerbs;
import io.idempotency.store.jdbc.sql.SqlSession;

/**
 * The transactions in which the verbs run.
 */
interface JdbcTransactions {

	/**
	 * Runs a verb.
	 * @param what the name of the verb
	 * @param verb the verb
	 */
	<T> T run(String what, SqlVerb<T> verb);

	/**
	 * Runs a claim, which waits for a transaction that has claimed the key.
	 */
	<T> T claim(SqlVerb<T> verb);

	/** Runs a renewal, which never waits behind other verbs for a connection. */
	<T> T renew(SqlVerb<T> verb);

	/**
	 * One verb that runs on a session.
	 *
	 * @param <T> the answer of the verb
	 */
	interface SqlVerb<T> {

		T run(JdbcVerbs verbs, SqlSession session) throws SQLException;

	}

}
