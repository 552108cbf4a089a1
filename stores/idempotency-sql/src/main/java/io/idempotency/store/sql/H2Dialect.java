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
 * H2 2.2 or newer, in any compatibility mode.
 * <p>
 * A duplicate takes two statements: the insert that fails and the query. One
 * {@code MERGE} could return the row, but it would rewrite the row for every duplicate,
 * and H2 is mostly in the same JVM, so a second statement costs no network. In the
 * regular mode and in some others, the clock stands still within a transaction.
 */
final class H2Dialect extends Dialect {

	private static final int DUPLICATE_KEY = 23505;

	private static final int DEADLOCK = 40001;

	private static final int LOCK_TIMEOUT = 50200;

	private static final int CONCURRENT_UPDATE = 90131;

	private static final String NOW = "CAST(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000000 AS BIGINT)";

	private final String insert;

	H2Dialect(TableName table) {
		super("h2", table, NOW, NOW, UnaryOperator.identity());
		this.insert = "SELECT fence FROM FINAL TABLE (" + sql().insertInto() + " VALUES ("
				+ RecordSql.newRecord(sql().now(), sql().now()) + "))";
	}

	@Override
	SqlStep<Insertion> insertOrFind(boolean joined, LockWait bound, IdempotencyKey key, StoredRecord fresh) {
		return new SqlStep.Query<>(Sql.of(this.insert, RecordRowMapper.ofNew(key, fresh)), (row) -> row.number(1),
				(fences) -> SqlStep.done(Insertion.written(fences.get(0))),
				(failure) -> (failure != SqlStep.Failure.DUPLICATE_KEY) ? new SqlStep.Failed<>()
						: find(joined, key, (found) -> SqlStep.done(Insertion.found(found))));
	}

	@Override
	SqlStep<Long> count(boolean joined, IdempotencyKey key, ClaimId other) {
		String count = "SELECT attempts FROM FINAL TABLE (" + sql(joined).count("attempts + 1") + ")";
		return SqlStep.find(counting(count, key, other), (row) -> row.number(1),
				(attempts) -> SqlStep.done(attempts.orElse(0L)));
	}

	@Override
	String currentRead() {
		return " FOR UPDATE";
	}

	/** Not every compatibility mode of H2 supports {@code LIMIT}. */
	@Override
	String limit(int rows) {
		return " FETCH FIRST " + rows + " ROWS ONLY";
	}

	/** The timeout is a setting of the session, so it is restored at the end. */
	@Override
	public LockWait lockWait(Duration bound) {
		return LockWait.ofSession(
				"SET @idempotency_lock_timeout = LOCK_TIMEOUT(); SET LOCK_TIMEOUT "
						+ Math.max(1, Math.min(bound.toMillis(), Integer.MAX_VALUE)),
				"SET LOCK_TIMEOUT @idempotency_lock_timeout");
	}

	@Override
	public LockWait ownLockWait(Duration bound) {
		return lockWait(bound);
	}

	@Override
	public boolean clockGoesOn() {
		return false;
	}

	@Override
	public SqlStep.Failure classify(@Nullable String state, int code) {
		return switch (code) {
			case DUPLICATE_KEY -> SqlStep.Failure.DUPLICATE_KEY;
			case DEADLOCK -> SqlStep.Failure.DEADLOCK;
			case CONCURRENT_UPDATE -> SqlStep.Failure.SERIALIZATION;
			case LOCK_TIMEOUT -> SqlStep.Failure.LOCK_TIMEOUT;
			default -> SqlStep.Failure.OTHER;
		};
	}

}
