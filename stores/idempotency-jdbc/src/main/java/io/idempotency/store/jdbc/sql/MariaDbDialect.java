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

	MariaDbDialect(TableName table, boolean skipsLocked) {
		super("mariadb", table, skipsLocked);
		this.insertOrFind = sql().insertInto() + " VALUES (" + sql().newRecord(sql().now())
				+ ") ON DUPLICATE KEY UPDATE attempts = attempts RETURNING " + RecordSql.COLUMNS + ", "
				+ sql().nowAfterReading() + ", " + sql().now();
	}

	@Override
	Insertion insertOrFind(SqlSession session, IdempotencyKey key, StoredRecord fresh) throws SQLException {
		return session.query(this.insertOrFind, (statement) -> RecordRows.bindNew(statement, key, fresh), (rows) -> {
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

	/**
	 * Rounds down, but to at least one second, because the connection is given up soon
	 * after the bound.
	 */
	@Override
	public LockWait ownLockWait(Duration bound) {
		return new BoundedStatement(Math.max(1, bound.toSeconds()));
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
			return "SET STATEMENT innodb_lock_wait_timeout = " + this.seconds + ", max_statement_time = 0 FOR " + sql;
		}

	}

}
