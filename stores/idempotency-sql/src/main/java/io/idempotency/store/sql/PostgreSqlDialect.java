package io.idempotency.store.sql;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.Moment;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.sql.Dialect.Insertion;
import io.idempotency.store.sql.Dialect.LockWait;
import io.idempotency.store.sql.Dialect.Timeouts;
import io.idempotency.store.sql.RecordRowMapper.StoredRow;
import io.idempotency.store.sql.SqlStep.Sql;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL.
 * <p>
 * A claim is one statement, for a fresh key and for a duplicate.
 * {@code ON CONFLICT DO UPDATE} is the usual way to return the other record, but it would
 * lock the row of every duplicate, which is a write that waits for the disk.
 * {@code DO NOTHING} writes nothing at all. The query in the same statement sees the
 * table as it was when the statement began, so it can miss a record that was committed
 * since. In that case, the statement runs again. The query never grants a claim; only the
 * insert does.
 */
final class PostgreSqlDialect extends Dialect {

	/**
	 * The expression is not {@code now()}, because that is the start of the transaction.
	 */
	private static final String NOW = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS bigint)";

	/**
	 * The bound of the application is kept in a variable of the session, because reading
	 * it into Java would be one more round trip.
	 */
	private static final String BEFORE = "idempotency.lock_timeout";

	private static final String SAVEPOINT = "idempotency_claim";

	private static final String RESTORE_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', current_setting('" + BEFORE
			+ "'), true)";

	private final String insertOrFind;

	private final String insertOrFindAlone;

	private final String insertOrFindInside;

	private final String insertRecordAlone;

	private final String completeAlone;

	private final String purge;

	private final String renewAll;

	private final Duration usual;

	PostgreSqlDialect(TableName table, Timeouts timeouts) {
		super("postgresql", table, NOW, NOW, (change) -> change + " AND " + isBounded(timeouts.lock()));
		this.usual = timeouts.lock();
		String mine = "), mine AS (" + sql().insertInto() + " SELECT " + RecordSql.newRecord("now", "now")
				+ " FROM clock" + " ON CONFLICT (key_hash) DO NOTHING RETURNING *)";
		String found = " SELECT 1 AS written, " + RecordSql.COLUMNS + ", fence AS clock FROM mine UNION ALL SELECT 0, "
				+ RecordSql.COLUMNS + ", (SELECT now FROM clock) FROM " + sql().table()
				+ " WHERE key_hash = ? AND NOT EXISTS (SELECT 1 FROM mine)";
		// A bound is set with the clock, which is read before anything is written.
		String clock = "WITH clock AS (SELECT " + NOW + " AS now";
		this.insertOrFind = clock + mine + found;
		this.insertOrFindAlone = clock + ", " + setLockTimeout(this.usual) + mine + found;
		this.insertOrFindInside = clock + ", current_setting('lock_timeout') AS before, "
				+ setLockTimeout(timeouts.waiting()) + mine + ", found AS (" + found
				+ ") SELECT found.*, set_config('lock_timeout', before, true) FROM clock LEFT JOIN found ON true";
		this.insertRecordAlone = alone().insertRecord.replace("VALUES (", "SELECT ").replaceAll("\\)$", "") + " WHERE "
				+ isBounded(this.usual);
		this.completeAlone = alone().complete
				+ " AND CASE state WHEN 'X' THEN set_config('synchronous_commit', 'off', true) ELSE '' END IS NOT NULL";
		this.purge = "DELETE FROM " + sql().table() + " WHERE key_hash = ANY(ARRAY(SELECT key_hash FROM "
				+ sql().table() + " WHERE " + RecordSql.expired("(SELECT " + NOW + ")")
				+ " ORDER BY purge_after LIMIT ? FOR UPDATE SKIP LOCKED))";
		String running = " FROM " + sql().table() + " r JOIN asked a USING (key_hash, claim_id) WHERE "
				+ sql().running();
		this.renewAll = "WITH asked AS (SELECT * FROM unnest(CAST(? AS text)::bytea[], CAST(? AS text)::bytea[],"
				+ " CAST(? AS text)::bigint[])" + " AS a (key_hash, claim_id, lease)), mine AS (SELECT key_hash, lease"
				+ running + " FOR NO KEY UPDATE OF r SKIP LOCKED), renewed AS (UPDATE " + sql().table()
				+ " r SET lease_until = " + sql().now() + " + lease FROM mine m WHERE r.key_hash = m.key_hash"
				+ " RETURNING r.claim_id) SELECT claim_id, claim_id IN (SELECT claim_id" + running
				+ ") FROM asked WHERE claim_id NOT IN (SELECT claim_id FROM renewed)";
	}

	/** Is true, and bounds the wait for the rows that it is true for. */
	private static String isBounded(Duration bound) {
		return setLockTimeout(bound) + " IS NOT NULL";
	}

	@Override
	SqlStep<Insertion> insertOrFind(boolean joined, LockWait bound, IdempotencyKey key, StoredRecord fresh) {
		// Only the bound of lockWaitAlone has one result before in a joined transaction.
		boolean inside = joined && bound.resultsBefore() == 1;
		String text = inside ? this.insertOrFindInside : joined ? this.insertOrFind : this.insertOrFindAlone;
		Sql sql = Sql.of(text, RecordRowMapper.ofNew(key, fresh), key.hash());
		return SqlStep.find(inside ? sql.unbounded() : sql, PostgreSqlDialect::insertion,
				(insertion) -> SqlStep.done(insertion.orElse(Insertion.found(Optional.empty()))));
	}

	/** A statement that bounds its own wait always returns a row. */
	private static Insertion insertion(SqlStep.Row row) {
		if (row.text(2) == null) {
			return Insertion.found(Optional.empty());
		}
		StoredRow stored = RecordRowMapper.read(row, 2);
		return (row.number(1) == 1) ? Insertion.written(stored.record().fencingToken())
				: Insertion.found(Optional.of(stored));
	}

	@Override
	boolean passesOverRows() {
		return true;
	}

	@Override
	SqlStep<Long> count(boolean joined, IdempotencyKey key, ClaimId other) {
		return SqlStep.find(counting(sql(joined).count("attempts + 1") + " RETURNING attempts", key, other),
				(row) -> row.number(1), (attempts) -> SqlStep.done(attempts.orElse(0L)));
	}

	/**
	 * Deletes with one statement. The keys go through an array, because a subquery with a
	 * limit may be evaluated for each row. The clock goes through a subquery, because a
	 * volatile function would keep PostgreSQL from using the index.
	 */
	@Override
	SqlStep<Integer> purge(int batchSize) {
		return SqlStep.update(Sql.of(this.purge, (long) batchSize), (rows) -> SqlStep.done((int) rows));
	}

	/**
	 * Sends one statement, which returns the claims that it has not renewed. If such a
	 * claim still appears renewable, another session locked its record, or changed it
	 * since the statement began.
	 */
	@Override
	SqlStep<List<Renewal>> renewAll(List<Renewal> renewals, Set<ClaimId> rejected) {
		Map<ClaimId, Renewal> byClaim = new HashMap<>();
		renewals.forEach((renewal) -> byClaim.put(renewal.claimId(), renewal));
		Sql sql = Sql.of(this.renewAll, array(renewals, (renewal) -> bytea(renewal.key().hash())),
				array(renewals, (renewal) -> bytea(RecordRowMapper.bytes(renewal.claimId()))),
				array(renewals, (renewal) -> String.valueOf(Moment.micros(renewal.lease()))));
		return SqlStep.query(sql, (row) -> Map.entry(RecordRowMapper.claimId(row.bytes(1)), row.truth(2)), (rows) -> {
			List<Renewal> held = new ArrayList<>();
			rows.forEach((row) -> {
				Renewal renewal = byClaim.get(row.getKey());
				if (renewal != null && row.getValue()) {
					held.add(renewal);
				}
				else if (renewal != null) {
					rejected.add(renewal.claimId());
				}
			});
			return SqlStep.done(held);
		});
	}

	/** Returns an array as text, which every driver can send. */
	private static String array(List<Renewal> renewals, Function<Renewal, String> element) {
		return renewals.stream().map(element).collect(Collectors.joining(",", "{", "}"));
	}

	private static String bytea(byte[] bytes) {
		return "\"\\\\x" + HexFormat.of().formatHex(bytes) + "\"";
	}

	@Override
	String completeAlone() {
		return this.completeAlone;
	}

	@Override
	String insertRecord(boolean joined) {
		return (joined ? sql().insertRecord : this.insertRecordAlone) + " ON CONFLICT (key_hash) DO NOTHING";
	}

	/**
	 * A failure aborts a transaction of PostgreSQL back to its last savepoint. This
	 * transaction belongs to the caller, so the claim needs a separate savepoint. The
	 * driver sends savepoint, bound and statement in one round trip. The settings are
	 * made after the savepoint, so they are undone with it.
	 */
	@Override
	public LockWait lockWait(Duration bound) {
		return LockWait.of(2,
				(sql, left) -> "SAVEPOINT " + SAVEPOINT + "; " + changeLockTimeout(bound) + "; " + sql + "; "
						+ RESTORE_LOCK_TIMEOUT + "; RELEASE SAVEPOINT " + SAVEPOINT,
				"ROLLBACK TO SAVEPOINT " + SAVEPOINT + "; RELEASE SAVEPOINT " + SAVEPOINT);
	}

	/**
	 * The bound holds for one statement, and a failure ends the transaction. A claim sets
	 * and restores the bound itself, so it is one statement.
	 */
	@Override
	public LockWait lockWaitAlone(Duration bound) {
		return LockWait.of(1, (sql, left) -> changeLockTimeout(bound) + "; " + sql + "; " + RESTORE_LOCK_TIMEOUT, null);
	}

	/** The table may be out of the caller's sight, which is a failure. */
	@Override
	public LockWait lookWait(Duration bound) {
		return lockWait(bound);
	}

	@Override
	public LockWait ownLockWait(Duration bound) {
		return boundOfStatements(bound, this.usual, PostgreSqlDialect::setLockTimeout);
	}

	/**
	 * A statement cannot bound its wait for the lock of the table, because it takes that
	 * lock before it begins. So the bound is sent ahead, together with the statement:
	 * they form one transaction, and the bound ends with it. It replaces the bound that
	 * the application has set for the statements of its sessions. The bound does not work
	 * if the driver is configured to send simple queries.
	 */
	@Override
	public LockWait carefulLockWait(Duration bound) {
		LockWait inside = ownLockWait(bound);
		return LockWait.of(1, (sql, left) -> "SELECT " + setLockTimeout(Timeouts.within(bound, left))
				+ ", set_config('statement_timeout', '0', true); " + inside.around(sql, left), null);
	}

	/** Keeps the bound that holds now in a variable of the session, and sets another. */
	private static String changeLockTimeout(Duration bound) {
		return "SELECT set_config('" + BEFORE + "', current_setting('lock_timeout'), true), " + setLockTimeout(bound);
	}

	private static String setLockTimeout(Duration bound) {
		return "set_config('lock_timeout', '" + Math.max(1, bound.toMillis()) + "ms', true)";
	}

	@Override
	public SqlStep.Failure classify(@Nullable String state, int code) {
		return switch (String.valueOf(state)) {
			case "23505" -> SqlStep.Failure.DUPLICATE_KEY;
			case "40P01" -> SqlStep.Failure.DEADLOCK;
			case "40001" -> SqlStep.Failure.SERIALIZATION;
			// A statement that was cancelled has waited for as long as its session lets
			// it.
			case "55P03", "57014" -> SqlStep.Failure.LOCK_TIMEOUT;
			// A statement has failed, or a timeout of the session ended the transaction.
			case "25P02", "25P03", "25P04" -> SqlStep.Failure.ABORTED;
			case "25006" -> SqlStep.Failure.READ_ONLY;
			default -> SqlStep.Failure.OTHER;
		};
	}

	/**
	 * Returns {@code false}: a failure aborts the transaction, or its part since the
	 * savepoint, but only a rollback ends it.
	 */
	@Override
	public SqlStep<Boolean> endsTransaction(SqlStep.Failure failure) {
		return SqlStep.done(false);
	}

}
