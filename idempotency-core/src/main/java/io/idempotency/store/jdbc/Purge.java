package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Deletes expired records where it takes two statements: the keys are read through the
 * index, then deleted by their primary key, where it is judged once more whether they are
 * expired. So the locks are those of single rows, and claims of other keys go on.
 */
final class Purge {

	private Purge() {
	}

	static int inTwoSteps(Connection connection, RecordSql sql, String limit, boolean skipLocked) throws SQLException {
		boolean autoCommit = connection.getAutoCommit();
		if (autoCommit) {
			connection.setAutoCommit(false);
		}
		try {
			int deleted = delete(connection, sql, expiredKeys(connection, sql, limit, skipLocked));
			connection.commit();
			connection.setAutoCommit(autoCommit);
			return deleted;
		}
		catch (SQLException ex) {
			undo(connection, autoCommit, ex);
			throw ex;
		}
	}

	private static void undo(Connection connection, boolean autoCommit, SQLException failure) {
		try {
			connection.rollback();
			connection.setAutoCommit(autoCommit);
		}
		catch (SQLException ex) {
			failure.addSuppressed(ex);
		}
	}

	private static List<byte[]> expiredKeys(Connection connection, RecordSql sql, String limit, boolean skipLocked)
			throws SQLException {
		String query = sql.findExpired(limit) + (skipLocked ? " FOR UPDATE SKIP LOCKED" : "");
		List<byte[]> keys = new ArrayList<>();
		try (PreparedStatement statement = connection.prepareStatement(query);
				ResultSet rows = statement.executeQuery()) {
			while (rows.next()) {
				keys.add(rows.getBytes(1));
			}
		}
		if (!skipLocked) {
			// Two that delete the same keys wait for each other in one direction.
			keys.sort(Arrays::compareUnsigned);
		}
		return keys;
	}

	private static int delete(Connection connection, RecordSql sql, List<byte[]> keys) throws SQLException {
		if (keys.isEmpty()) {
			return 0;
		}
		try (PreparedStatement statement = connection.prepareStatement(sql.deleteExpired(keys.size()))) {
			for (int i = 0; i < keys.size(); i++) {
				statement.setBytes(i + 1, keys.get(i));
			}
			return statement.executeUpdate();
		}
	}

}
