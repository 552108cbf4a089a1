package io.idempotency.store.sql;

import java.time.Duration;
import java.util.function.UnaryOperator;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.sql.Dialect.Insertion;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.SqlStep.Sql;
import org.jspecify.annotations.Nullable;

/**
 * MySQL.
 * <p>
 * This dialect also supports MariaDB before 10.5. Neither database can return a row from
 * an insert, so a duplicate takes two statements: the insert that fails and the query. A
 * fresh claim takes one statement, which returns the fencing token as the generated key.
 * {@code ON DUPLICATE KEY UPDATE} would take as many statements, and would lock the row
 * of every duplicate against all other sessions.
 * <p>
 * On a separate connection, only the network timeout bounds the wait for a lock, because
 * another bound would take two more statements.
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
		this.insert = sql().insertInto() + " VALUES ("
				+ RecordSql.newRecord(sql().now(), "LAST_INSERT_ID(" + sql().now() + ")") + ")";
	}

	@Override
	SqlStep<Insertion> insertOrFind(boolean joined, LockWait bound, IdempotencyKey key, StoredRecord fresh) {
		return new SqlStep.Update<>(Sql.of(this.insert, RecordRowMapper.ofNew(key, fresh)), true,
				(fencingToken) -> SqlStep.done(Insertion.written(fencingToken)),
				(failure) -> (failure != SqlStep.Failure.DUPLICATE_KEY) ? new SqlStep.Failed<>()
						: find(joined, key, (found) -> SqlStep.done(Insertion.found(found))));
	}

	@Override
	SqlStep<Long> count(boolean joined, IdempotencyKey key, ClaimId other) {
		return new SqlStep.Update<>(counting(sql(joined).count("LAST_INSERT_ID(attempts + 1)"), key, other), true,
				SqlStep::done, (failure) -> new SqlStep.Failed<>());
	}

	/**
	 * A plain query of InnoDB reads from the snapshot of the transaction; a locking query
	 * reads the current rows.
	 */
	@Override
	String currentRead() {
		return " FOR UPDATE";
	}

	/**
	 * The bound takes two more statements, because MySQL cannot bound a single statement.
	 * This variable cannot be set by a hint. The query timeout of the driver would kill
	 * the statement from another connection, and may hit the statement after it.
	 */
	@Override
	public LockWait lockWait(Duration bound) {
		return LockWait.ofSession(
				"SET @idempotency_lock_wait_timeout = @@SESSION.innodb_lock_wait_timeout,"
						+ " SESSION innodb_lock_wait_timeout = " + wholeSeconds(bound),
				"SET SESSION innodb_lock_wait_timeout = @idempotency_lock_wait_timeout");
	}

	/**
	 * Rounds up to whole seconds, the unit of InnoDB; with zero, InnoDB would not wait at
	 * all.
	 */
	static long wholeSeconds(Duration bound) {
		return Math.max(1, bound.plusNanos(999_999_999).toSeconds());
	}

	@Override
	Sql largest() {
		return Sql.of("SELECT @@max_allowed_packet");
	}

	@Override
	public SqlStep.Failure classify(@Nullable String state, int code) {
		return switch (code) {
			case DUPLICATE_ENTRY -> SqlStep.Failure.DUPLICATE_KEY;
			case DEADLOCK, CHECK_READ -> SqlStep.Failure.DEADLOCK;
			case LOCK_WAIT_TIMEOUT -> SqlStep.Failure.LOCK_TIMEOUT;
			case READ_ONLY_TRANSACTION -> SqlStep.Failure.READ_ONLY;
			default -> SqlStep.Failure.OTHER;
		};
	}

	@Override
	public SqlStep<Boolean> endsTransaction(SqlStep.Failure failure) {
		// The setting is off by default. Without it, a timeout rolls back only the one
		// statement.
		return (failure != SqlStep.Failure.LOCK_TIMEOUT) ? super.endsTransaction(failure)
				: SqlStep.find(Sql.of("SELECT @@GLOBAL.innodb_rollback_on_timeout").unbounded(), (row) -> row.truth(1),
						(on) -> SqlStep.done(on.orElse(false)));
	}

	@Override
	String byKey() {
		return " FORCE INDEX (PRIMARY)";
	}

	@Override
	boolean skipsLocked() {
		return this.skipsLocked;
	}

}
