package io.idempotency.store.sql;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Optional;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.sql.Dialect.Insertion;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.Dialect.Timeouts;
import io.idempotency.store.sql.RecordRowMapper.StoredRow;
import io.idempotency.store.sql.SqlStep.Sql;
import org.jspecify.annotations.Nullable;

/**
 * MariaDB 10.5 or newer, with any driver.
 * <p>
 * A claim is one statement. For a duplicate, its update changes nothing, so InnoDB writes
 * nothing, and the statement returns the row of the key.
 */
final class MariaDbDialect extends MySqlDialect {

	/** The column of the clock, after the columns of a query. */
	private static final int CLOCK = 13;

	private static final int STATEMENT_TIMEOUT = 1969;

	private final String insertOrFind;

	private final String insertOrFindAlone;

	private final String insertRecordAlone;

	private final Duration usual;

	/**
	 * On a separate connection, the bound is rounded down, because the connection is
	 * closed soon after the bound.
	 */
	MariaDbDialect(TableName table, Timeouts timeouts, boolean skipsLocked) {
		super("mariadb", table, skipsLocked, (sql) -> before(usual(timeouts.lock())) + sql);
		this.usual = usual(timeouts.lock());
		this.insertOrFind = sql().insertInto() + " VALUES (" + RecordSql.newRecord(sql().now(), sql().now())
				+ ") ON DUPLICATE KEY UPDATE attempts = attempts RETURNING " + RecordSql.COLUMNS + ", "
				+ sql().nowAfterReading() + ", " + sql().now();
		this.insertOrFindAlone = before(this.usual) + this.insertOrFind;
		this.insertRecordAlone = before(this.usual) + sql().insertRecord;
	}

	/** InnoDB supports whole seconds. */
	private static Duration usual(Duration bound) {
		return Duration.ofSeconds(Math.max(1, bound.toSeconds()));
	}

	/**
	 * Returns the text before a statement. The bound applies to that statement only. It
	 * replaces the bound that the application has set for the statements of its sessions.
	 * Less than a second is a bound on the whole statement.
	 */
	private static String before(Duration bound) {
		boolean whole = bound.toSeconds() > 0;
		return "SET STATEMENT innodb_lock_wait_timeout = " + Math.max(1, bound.toSeconds()) + ", max_statement_time = "
				+ (whole ? "0" : BigDecimal.valueOf(Math.max(1, bound.toMillis()), 3).toPlainString()) + " FOR ";
	}

	@Override
	public LockWait ownLockWait(Duration bound) {
		return boundOfStatements(usual(bound), this.usual, MariaDbDialect::before);
	}

	@Override
	public SqlStep.Failure classify(@Nullable String state, int code) {
		return (code == STATEMENT_TIMEOUT) ? SqlStep.Failure.LOCK_TIMEOUT : super.classify(state, code);
	}

	@Override
	SqlStep<Insertion> insertOrFind(boolean joined, LockWait bound, IdempotencyKey key, StoredRecord fresh) {
		return SqlStep.find(
				Sql.of(joined ? this.insertOrFind : this.insertOrFindAlone, RecordRowMapper.ofNew(key, fresh)),
				(row) -> insertion(RecordRowMapper.read(row, 1), row.number(CLOCK), fresh),
				(insertion) -> SqlStep.done(insertion.orElse(Insertion.found(Optional.empty()))));
	}

	/**
	 * A record that this statement has written has the statement's own clock as its
	 * fencing token.
	 */
	private static Insertion insertion(StoredRow row, long clock, StoredRecord fresh) {
		boolean written = row.record().claimId().equals(fresh.claimId()) && row.record().fencingToken() == clock;
		return written ? Insertion.written(clock) : Insertion.found(Optional.of(row));
	}

	@Override
	public LockWait lockWait(Duration bound) {
		String before = before(Duration.ofSeconds(wholeSeconds(bound)));
		return LockWait.of(0, (sql, left) -> before + sql, null);
	}

	@Override
	String insertRecord(boolean joined) {
		return joined ? sql().insertRecord : this.insertRecordAlone;
	}

}
