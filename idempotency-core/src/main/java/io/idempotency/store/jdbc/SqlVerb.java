package io.idempotency.store.jdbc;

import java.sql.SQLException;

/**
 * One verb, to be run on a session.
 *
 * @param <T> its answer
 */
interface SqlVerb<T> {

	T run(JdbcVerbs verbs, SqlSession session) throws SQLException;

}
