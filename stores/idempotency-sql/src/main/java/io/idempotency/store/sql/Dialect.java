package io.idempotency.store.sql;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import io.idempotency.Internal;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.Renewal;
import io.idempotency.store.StoredRecord;
import io.idempotency.store.sql.RecordRowMapper.StoredRow;
import io.idempotency.store.sql.SqlStep.Sql;
import org.jspecify.annotations.Nullable;

/**
 * The statements and rules that differ from database to database.
 *
 * @hidden
 */
@Internal
public abstract class Dialect {

	private final String vendor;

	private final TableName table;

	private final RecordSql sql;

	private final RecordSql alone;

	/**
	 * Creates the dialect.
	 * @param vendor the name of the database in the names of its scripts
	 * @param now the expression for the clock: microseconds since 1970, UTC
	 * @param nowAfterReading the expression for the clock in a statement that reads a row
	 * @param bounded adds the bound on the wait for a row lock to a statement on a
	 * separate connection, if the database has a bound for a single statement
	 */
	Dialect(String vendor, TableName table, String now, String nowAfterReading, UnaryOperator<String> bounded) {
		this.vendor = vendor;
		this.table = table;
		this.sql = new RecordSql(table, now, nowAfterReading, UnaryOperator.identity());
		this.alone = new RecordSql(table, now, nowAfterReading, bounded);
	}

	public String vendor() {
		return this.vendor;
	}

	/** Returns the class path location of the schema script. */
	public String scriptLocation() {
		return "io/idempotency/store/sql/schema/" + this.vendor + "/R__idempotency_record.sql";
	}

	/** Returns the schema script, with the name of the table in it. */
	public String script() {
		try (InputStream script = Dialect.class.getResourceAsStream("/" + scriptLocation())) {
			if (script == null) {
				throw new IllegalStateException("The script is missing: " + scriptLocation());
			}
			return new String(script.readAllBytes(), StandardCharsets.UTF_8)
				.replace(TableName.DEFAULT + "_", this.table.simpleName() + "_")
				.replaceAll("\\b" + TableName.DEFAULT + "\\b", this.table.text());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Returns the statements of the schema script. */
	public List<Sql> scriptStatements() {
		return Arrays.stream(script().replaceAll("(?m)^--.*$", "").split(";"))
			.map(String::strip)
			.filter((statement) -> !statement.isEmpty())
			.map((statement) -> Sql.of(statement).unbounded())
			.toList();
	}

	/** Returns a query that reads no rows and fails if a column is missing. */
	public String probe() {
		return this.sql.probe();
	}

	/** Returns statements that change nothing and fail if the table cannot be written. */
	public List<String> writeProbes() {
		return this.sql.writeProbes();
	}

	/** Returns the statements for the table, with the clock of this database. */
	final RecordSql sql() {
		return this.sql;
	}

	/**
	 * Returns the statements for a separate connection, where each is a transaction.
	 */
	final RecordSql alone() {
		return this.alone;
	}

	/**
	 * Writes a record if the key has none, or else reads the record of the key. This
	 * takes one statement if the database can do it without a write for a duplicate.
	 * @param joined whether the statement is in the transaction of the caller
	 * @param bound the bound of the statement
	 */
	abstract SqlStep<Insertion> insertOrFind(boolean joined, LockWait bound, IdempotencyKey key, StoredRecord fresh);

	/**
	 * Counts one more claim of type once.
	 * @return the attempts, zero if the record is not a claim of type once with another
	 * claim id
	 */
	abstract SqlStep<Long> count(boolean joined, IdempotencyKey key, ClaimId other);

	/** Returns the statements for a transaction of the caller, or for a separate one. */
	final RecordSql sql(boolean joined) {
		return joined ? this.sql : this.alone;
	}

	/**
	 * Returns {@link RecordSql#complete} for a separate connection. If the database
	 * supports it, the statement does not wait for the disk when it attaches a result to
	 * executed work: if that write is lost, the record still shows that the work is done.
	 */
	String completeAlone() {
		return this.alone.complete;
	}

	/**
	 * Returns {@link RecordSql#insertRecord}, without an error where the key has a record
	 * if the database can do that.
	 */
	String insertRecord(boolean joined) {
		return sql(joined).insertRecord;
	}

	/**
	 * Returns the text after a query in the transaction of the caller, so that the query
	 * sees records that were committed after the transaction took its snapshot.
	 */
	String currentRead() {
		return "";
	}

	/**
	 * Bounds the wait for a lock in the transaction of the caller; the transaction can go
	 * on after the wait.
	 */
	public abstract LockWait lockWait(Duration bound);

	/**
	 * Bounds the wait for a lock in a transaction that cannot continue after a wait that
	 * exceeded its bound.
	 */
	public LockWait lockWaitAlone(Duration bound) {
		return lockWait(bound);
	}

	/**
	 * Lets a query in the transaction of the caller fail without harm to that
	 * transaction. No query waits for a lock if the database keeps versions of rows.
	 */
	public LockWait lookWait(Duration bound) {
		return LockWait.NONE;
	}

	/**
	 * Returns the query for the size of the largest statement, {@code null} if that is so
	 * large that no result reaches it.
	 */
	@Nullable Sql largest() {
		return null;
	}

	/**
	 * Returns whether the clock advances within a transaction. If the clock stands still,
	 * a lookup in the transaction of the caller would find results that have expired
	 * since.
	 */
	public boolean clockGoesOn() {
		return true;
	}

	/**
	 * Bounds the wait for a lock when each statement is its own transaction, unless the
	 * statements do so themselves.
	 */
	public LockWait ownLockWait(Duration bound) {
		return LockWait.NONE;
	}

	/**
	 * Bounds the wait for the lock of the whole table, too, when each statement is its
	 * own transaction.
	 */
	public LockWait carefulLockWait(Duration bound) {
		return ownLockWait(bound);
	}

	/**
	 * Returns the kind of a failure that the database reported.
	 * @param state the SQL state, {@code null} if the driver does not provide one
	 * @param code the code of the vendor
	 */
	public abstract SqlStep.Failure classify(@Nullable String state, int code);

	/**
	 * Returns whether a failure has rolled back the whole transaction, so that the next
	 * statement would begin another transaction.
	 */
	public SqlStep<Boolean> endsTransaction(SqlStep.Failure failure) {
		return SqlStep.done(failure == SqlStep.Failure.DEADLOCK);
	}

	/**
	 * Deletes expired records on a separate connection. Two nodes may call this at once.
	 * The first statement reads keys through the index. The second deletes the rows by
	 * their primary key, if they are still expired. So only single rows are locked, and
	 * claims of other keys are not blocked.
	 * @return how many were deleted
	 */
	SqlStep<Integer> purge(int batchSize) {
		String query = this.sql.findExpired(limit(batchSize)) + (skipsLocked() ? RecordSql.SKIP_LOCKED : "");
		SqlStep<Integer> work = SqlStep.query(Sql.of(query), (row) -> row.bytes(1), (found) -> {
			// Two nodes that delete the same keys in the same order cannot deadlock.
			List<byte[]> keys = skipsLocked() ? found : found.stream().sorted(Arrays::compareUnsigned).toList();
			return keys.isEmpty() ? SqlStep.done(0) : SqlStep.update(Sql.of(this.sql.deleteExpired(keys.size()), keys),
					(rows) -> SqlStep.done((int) rows));
		});
		return new SqlStep.Transaction<>(work, SqlStep::done);
	}

	/**
	 * Bounds the waits of statements on separate connections whose text contains the
	 * bound. The statements are prepared for the usual bound, and a call with another
	 * bound gets others.
	 * @param bound how long a statement may wait
	 * @param text the text of a bound in the statements
	 */
	static LockWait boundOfStatements(Duration bound, Duration usual, Function<Duration, String> text) {
		return LockWait.of(0, (sql, left) -> {
			Duration within = Timeouts.within(bound, left);
			return within.equals(usual) ? sql : sql.replace(text.apply(usual), text.apply(within));
		}, null);
	}

	/**
	 * Renews the claims whose records are not locked by another session, on a separate
	 * connection.
	 * @param rejected receives the claims that are rejected
	 */
	SqlStep<List<Renewal>> renewAll(List<Renewal> renewals, Set<ClaimId> rejected) {
		return Renewing.inTwoSteps(this.sql, byKey(), renewals, rejected);
	}

	/**
	 * Returns the text after the table name that makes the database find rows by the
	 * primary key alone.
	 */
	String byKey() {
		return "";
	}

	/** Returns the text that limits a query to a number of rows. */
	String limit(int rows) {
		return " LIMIT " + rows;
	}

	/** Returns whether a statement can skip the rows that another session has locked. */
	boolean skipsLocked() {
		return true;
	}

	/**
	 * Returns whether a statement sees a row as it was before another transaction that
	 * has not ended, and skips it without a wait if that version does not match.
	 */
	boolean passesOverRows() {
		return false;
	}

	/** Reads one record. */
	final <T> SqlStep<T> find(boolean joined, IdempotencyKey key, Function<Optional<StoredRow>, SqlStep<T>> next) {
		String text = this.sql.find + (joined ? currentRead() : "");
		return SqlStep.find(Sql.of(text, key.hash()), (row) -> RecordRowMapper.read(row, 1), next);
	}

	/** Reads one record without the body of its result. */
	final <T> SqlStep<T> findHead(boolean joined, IdempotencyKey key, Function<Optional<StoredRow>, SqlStep<T>> next) {
		return findHead(key.hash(), joined ? currentRead() : "", next);
	}

	/** Reads the record of a hash without the body of its result. */
	final <T> SqlStep<T> findHead(byte[] hash, Function<Optional<StoredRow>, SqlStep<T>> next) {
		return findHead(hash, "", next);
	}

	private <T> SqlStep<T> findHead(byte[] hash, String suffix, Function<Optional<StoredRow>, SqlStep<T>> next) {
		return SqlStep.find(Sql.of(this.sql.findHead + suffix, hash), (row) -> RecordRowMapper.read(row, 1), next);
	}

	static Sql counting(String text, IdempotencyKey key, ClaimId other) {
		return Sql.of(text, key.hash(), RecordRowMapper.bytes(other));
	}

	/**
	 * The outcome of an insert: the new record was written, or the key has a record
	 * already.
	 *
	 * @param written whether the new record was written
	 * @param fencingToken the fencing token of the new record, 0 if it was not written
	 * @param found the record of the key; {@code null} if the new record was written, or
	 * if the statement could not see a record
	 */
	record Insertion(boolean written, long fencingToken, @Nullable StoredRow found) {

		static Insertion written(long fencingToken) {
			return new Insertion(true, fencingToken, null);
		}

		static Insertion found(Optional<StoredRow> row) {
			return new Insertion(false, 0, row.orElse(null));
		}

	}

	/**
	 * Bounds how long statements wait for another transaction, and restores the settings
	 * of the session.
	 *
	 * @param begin the SQL that is sent before the first statement, {@code null} for
	 * nothing
	 * @param end the SQL that is sent after the last statement, even if that failed;
	 * {@code null} for nothing
	 * @param bounded returns a statement together with the SQL that bounds its wait
	 * @param resultsBefore how many results that SQL puts before those of the statement
	 * @param undo the SQL that is sent after the database rejected a statement, so that
	 * the transaction can continue; {@code null} for nothing
	 * @hidden
	 */
	public record LockWait(@Nullable String begin, @Nullable String end, Bounded bounded, int resultsBefore,
			@Nullable String undo) {

		/** No bound: a statement waits as long as the database lets it. */
		public static final LockWait NONE = of(0, (sql, left) -> sql, null);

		/** Creates a bound that is a setting of the session. */
		static LockWait ofSession(String begin, String end) {
			return new LockWait(begin, end, NONE.bounded, 0, null);
		}

		/** Creates a bound that is a part of each statement, or encloses it. */
		static LockWait of(int resultsBefore, Bounded bounded, @Nullable String undo) {
			return new LockWait(null, null, bounded, resultsBefore, undo);
		}

		/**
		 * Returns the statement together with the SQL that bounds its wait.
		 * @param left how long the call may still take, in nanoseconds
		 */
		public String around(String sql, long left) {
			return this.bounded.around(sql, left);
		}

		/** Puts SQL around a statement. */
		interface Bounded {

			String around(String sql, long left);

		}

	}

	/**
	 * The bounds on the time of calls.
	 *
	 * @param waiting how long a claim waits for another transaction that has claimed the
	 * key
	 * @param call how long one call waits for the database
	 * @hidden
	 */
	public record Timeouts(Duration waiting, Duration call) {

		/** A batch of a purge may take longer, because no caller waits for it. */
		public static final Duration PURGE = Duration.ofMinutes(1);

		/** Nodes that start together wait for each other, so startup may take longer. */
		public static final Duration START = Duration.ofMinutes(5);

		/** The default timeouts of a store. */
		public static final Timeouts DEFAULT = new Timeouts(Duration.ofSeconds(5), Duration.ofSeconds(2));

		/**
		 * Checks the bounds.
		 */
		public Timeouts {
			requireAMilli("waitTimeout", waiting);
			requireAMilli("storeTimeout", call);
		}

		private static void requireAMilli(String name, Duration duration) {
			if (duration.toMillis() < 1) {
				throw new IllegalArgumentException(name + " must be at least a millisecond, not " + duration);
			}
		}

		/**
		 * Returns a bound that ends before the call does: the bound itself, or as often
		 * halved as needed, so that few different statements have to be prepared.
		 * @param bound the bound of a call that has all its time
		 * @param left how long the call may still take, in nanoseconds
		 */
		static Duration within(Duration bound, long left) {
			Duration most = Duration.ofNanos(left / 7 * 6);
			Duration within = bound;
			while (within.compareTo(most) > 0 && within.toMillis() > 1) {
				within = within.dividedBy(2);
			}
			return within;
		}

		/**
		 * Returns how long a statement waits for a lock: less than a call may take, so
		 * that the database ends the wait before the network timeout closes the
		 * connection. So no connection is lost, and no statement remains in the database
		 * that could be applied later. A call that has less time left than that waits
		 * {@link #within} it.
		 */
		public Duration lock() {
			// Multiplication of durations uses big decimals, and each operation calls
			// this method.
			return Duration.ofNanos(TimeUnit.NANOSECONDS.convert(this.call) / 4 * 3);
		}

		/**
		 * Returns how long a claim on a separate connection waits for the lock of the
		 * key.
		 */
		public Duration claim() {
			return (this.waiting.compareTo(lock()) < 0) ? this.waiting : lock();
		}

	}

}
