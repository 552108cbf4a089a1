package io.idempotency.store.jdbc.sql;

import java.sql.SQLException;
import java.time.Duration;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.record.StoredRecord;

/**
 * MariaDB 10.5 or newer, with any driver.
 * <p>
 * A claim is one statement. For a duplicate, its update changes nothing, so InnoDB writes
 * nothing, and the statement returns the row of the key.
 */
final class MariaDbDialect extends MySqlDialect {

	/** The column of the clock, after the columns of a query. */
	private static final int CLOCK = 13;

	private final String insertOrFind;

	private final String insertOrFindAlone;

	private final LockWait alone;

	/**
	 * On a connection of our own, the bound is rounded down, but to at least one second,
	 * because the connection is given up soon after the bound.
	 */
	MariaDbDialect(TableName table, Timeouts timeouts, boolean skipsLocked) {
		super("mariadb", table, skipsLocked, new BoundedStatement(timeouts.lock().toSeconds())::around);
		this.insertOrFind = sql().insertInto() + " VALUES (" + sql().newRecord(sql().now())
				+ ") ON DUPLICATE KEY UPDATE attempts = attempts RETURNING " + RecordSql.COLUMNS + ", "
				+ sql().nowAfterReading() + ", " + sql().now();
		this.insertOrFindAlone = new BoundedStatement(timeouts.claim().toSeconds()).around(this.insertOrFind);
		this.alone = new BoundedStatement(timeouts.lock().toSeconds());
	}

	@Override
	Insertion insertOrFind(SqlSession session, IdempotencyKey key, StoredRecord fresh) throws SQLException {
		String sql = session.isJoined() ? this.insertOrFind : this.insertOrFindAlone;
		return session.query(sql, (statement) -> RecordRows.bindNew(statement, key, fresh), (rows) -> {
			if (!rows.next()) {
				return Insertion.found(null);
			}
			StoredRow row = RecordRows.read(rows, 1);
			// A record that this statement has written has the statement's own clock as
			// its fence.
			boolean written = row.record().claimId().equals(fresh.claimId())
					&& row.record().fence() == rows.getLong(CLOCK);
			return written ? Insertion.written(row.record().fence()) : Insertion.found(row);
		});
	}

	@Override
	public LockWait lockWait(Duration bound) {
		return new BoundedStatement(wholeSeconds(bound));
	}

	@Override
	String insertRecord(SqlSession session) {
		return session.isJoined() ? session.sql().insertRecord : this.alone.around(session.sql().insertRecord);
	}

	/**
	 * The bound holds for one statement only. It takes the place of the bound that the
	 * application has given to the statements of its sessions.
	 *
	 * @param seconds how long to wait
	 */
	private record BoundedStatement(long seconds) implements LockWait {

		@Override
		public String around(String sql) {
			return "SET STATEMENT innodb_lock_wait_timeout = " + Math.max(1, this.seconds)
					+ ", max_statement_time = 0 FOR " + sql;
		}

	}

}
