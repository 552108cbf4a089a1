package io.idempotency.store.jdbc;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Deletes expired records on databases that need two statements. The first statement
 * reads keys through the index. The second deletes the rows by their primary key, if they
 * are still expired. So only single rows are locked, and claims of other keys go on.
 */
final class Purge {

	private Purge() {
	}

	static int inTwoSteps(SqlSession session, RecordSql sql, String limit, boolean skipLocked) throws SQLException {
		return session.inTransaction((inside) -> {
			List<byte[]> keys = expiredKeys(inside, sql, limit, skipLocked);
			return keys.isEmpty() ? 0
					: inside.update(sql.deleteExpired(keys.size()), (statement) -> RecordRows.bind(statement, 1, keys));
		});
	}

	private static List<byte[]> expiredKeys(SqlSession session, RecordSql sql, String limit, boolean skipLocked)
			throws SQLException {
		String query = sql.findExpired(limit) + (skipLocked ? RecordSql.SKIP_LOCKED : "");
		return session.query(query, SqlSession.NO_PARAMETERS, (rows) -> {
			List<byte[]> keys = new ArrayList<>();
			while (rows.next()) {
				keys.add(rows.getBytes(1));
			}
			if (!skipLocked) {
				// Two nodes that delete the same keys in the same order cannot deadlock.
				keys.sort(Arrays::compareUnsigned);
			}
			return keys;
		});
	}

}
