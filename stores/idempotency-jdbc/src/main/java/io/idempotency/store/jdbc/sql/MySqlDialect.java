package io.idempotency.store.jdbc.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.function.UnaryOperator;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.record.StoredRecord;

/**
 * MySQL.
 * <p>
 * This dialect also serves MariaDB before 10.5. Neither database can return a row from an
 * insert, so a duplicate takes two statements: the insert that fails and the query. A
 * fresh claim takes one statement, which returns the fence as the generated key.
 * {@code ON DUPLICATE KEY UPDATE} would take as many statements, and would lock the row
 * of every duplicate against all other sessions.
 * <p>
 * On a connection of our own, only the network time-out bounds the wait for a lock,
 * because another bound would take two more statements.
 */
class MySqlDialect extends Dialect {

	private static final int DUPLICATE_ENTRY = 1062;

	private static final int LOCK_WAIT_TIMEOUT = 1205;

	private static final int DEADLOCK = 1213;

	private static final int READ_ONLY_TRANSACTION = 1792;

	/**
	 * An error of MariaDB: the record has changed since the transaction took its
	 * snapshot.
	 */
	private static final int CHECK_READ = 1020;

	/** The time at which the statement began. */
	private static final String NOW = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

	private static final String ELAPSED = "TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6))";

	/**
	 * How long the statement has run; zero if the time zone switched to or from daylight
	 * saving time meanwhile.
	 */
	private static final String SINCE_START = "IF(" + ELAPSED + " BETWEEN 0 AND 3000000000, " + ELAPSED + ", 0)";

	private final boolean skipsLocked;

	private final String insert;

	MySqlDialect(TableName table, boolean skipsLocked) {
		this("mysql", table, skipsLocked, UnaryOperator.identity());
	}

	MySqlDialect(String vendor, TableName table, boolean skipsLocked, UnaryOperator<String> bounded) {
		super(vendor, table, NOW, NOW + " + " + SINCE_START, bounded);
		this.skipsLocked = skipsLocked;
		this.insert = sql().insertInto() + " VALUES (" + sql().newRecord("LAST_INSERT_ID(" + sql().now() + ")") + ")";
	}

	@Override
	Insertion insertOrFind(SqlSession session, IdempotencyKey key, StoredRecord fresh) throws SQLException {
		try {
			return Insertion
				.written(session.updateAndGetKey(this.insert, (statement) -> RecordRows.bindNew(statement, key, fresh))
					.orElseThrow());
		}
		catch (SQLException ex) {
			if (classify(ex) != SqlFailure.DUPLICATE_KEY) {
				throw ex;
			}
		}
		return Insertion.found(find(session, key));
	}

	@Override
	OptionalLong count(SqlSession session, IdempotencyKey key, ClaimId other) throws SQLException {
		return session.updateAndGetKey(session.sql().count("LAST_INSERT_ID(attempts + 1)"),
				(statement) -> bindCount(statement, key, other));
	}

	/**
	 * A plain query of InnoDB reads from the snapshot of the transaction; a locking query
	 * reads the current rows.
	 */
	@Override
	String currentRead() {
		return " FOR UPDATE";
	}

	@Override
	public LockWait lockWait(Duration bound) {
		return new BoundedSession(wholeSeconds(bound));
	}

	/**
	 * Rounds up to whole seconds, which is all that InnoDB knows; with zero, InnoDB would
	 * not wait at all.
	 */
	static long wholeSeconds(Duration bound) {
		return Math.max(1, bound.plusNanos(999_999_999).toSeconds());
	}

	@Override
	public SqlFailure classify(SQLException failure) {
		return switch (failure.getErrorCode()) {
			case DUPLICATE_ENTRY -> SqlFailure.DUPLICATE_KEY;
			case DEADLOCK, CHECK_READ -> SqlFailure.DEADLOCK;
			case LOCK_WAIT_TIMEOUT -> SqlFailure.LOCK_TIMEOUT;
			case READ_ONLY_TRANSACTION -> SqlFailure.READ_ONLY;
			default -> SqlFailure.OTHER;
		};
	}

	@Override
	public boolean endsTransaction(Connection connection, SqlFailure failure) throws SQLException {
		if (failure != SqlFailure.LOCK_TIMEOUT) {
			return super.endsTransaction(connection, failure);
		}
		// The setting is off by default; then a time-out rolls back only the one
		// statement.
		try (Statement statement = connection.createStatement();
				ResultSet rows = statement.executeQuery("SELECT @@GLOBAL.innodb_rollback_on_timeout")) {
			return rows.next() && rows.getBoolean(1);
		}
	}

	@Override
	String byKey() {
		return " FORCE INDEX (PRIMARY)";
	}

	@Override
	boolean skipsLocked() {
		return this.skipsLocked;
	}

	/**
	 * The bound takes two more statements, because MySQL has no bound for a single one.
	 * No hint sets this variable. The query time-out of the driver would kill the
	 * statement from another connection, and may hit the statement after it.
	 *
	 * @param seconds how long to wait
	 */
	private record BoundedSession(long seconds) implements LockWait {

		@Override
		public void begin(Connection connection) throws SQLException {
			set(connection, "SET @idempotency_lock_wait_timeout = @@SESSION.innodb_lock_wait_timeout,"
					+ " SESSION innodb_lock_wait_timeout = " + this.seconds);
		}

		@Override
		public void end(Connection connection) throws SQLException {
			set(connection, "SET SESSION innodb_lock_wait_timeout = @idempotency_lock_wait_timeout");
		}

		private static void set(Connection connection, String sql) throws SQLException {
			try (Statement statement = connection.createStatement()) {
				statement.execute(sql);
			}
		}

	}

}
