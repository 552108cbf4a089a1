package io.idempotency.store.jdbc;

import java.sql.SQLException;

/**
 * One verb that runs on a session.
 *
 * @param <T> the answer of the verb
 */
interface SqlVerb<T> {

	T run(JdbcVerbs verbs, SqlSession session) throws SQLException;

}
