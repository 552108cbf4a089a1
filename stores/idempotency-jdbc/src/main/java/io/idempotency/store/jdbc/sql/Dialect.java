package io.idempotency.store.jdbc.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import io.idempotency.Internal;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.Renewal;
import io.idempotency.store.record.StoredRecord;

import org.jspecify.annotations.Nullable;

/**
 * The statements and rules that differ from database to database.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public abstract class Dialect {

	private final String vendor;

	private final RecordSql sql;

	private final RecordSql alone;

	/**
	 * Creates the dialect.
	 * @param vendor the name of the database in the names of its scripts
	 * @param table the table
	 * @param now the expression for the clock: microseconds since 1970, UTC
	 * @param nowAfterReading the expression for the clock in a statement that reads a row
	 * @param bounded adds to a statement on a connection of our own what bounds its wait
	 * for the lock of a row, if the database has a bound for a single statement
	 */
	Dialect(String vendor, TableName table, String now, String nowAfterReading, UnaryOperator<String> bounded) {
		this.vendor = vendor;
		this.sql = new RecordSql(table, now, nowAfterReading, UnaryOperator.identity());
		this.alone = new RecordSql(table, now, nowAfterReading, bounded);
	}

	public String vendor() {
		return this.vendor;
	}

	/** Returns the statements for the table, with the clock of this database. */
	public RecordSql sql() {
		return this.sql;
	}

	/**
	 * Returns the statements for a connection of our own, where each is a transaction.
	 */
	final RecordSql alone() {
		return this.alone;
	}

	/**
	 * Writes a record if the key has none, else reads the record of the key. This takes
	 * one statement if the database can do it without a write for a duplicate.
	 */
	abstract Insertion insertOrFind(SqlSession session, IdempotencyKey key, StoredRecord fresh) throws SQLException;

	/**
	 * Counts one more claim of type once.
	 * @return the attempts, empty if the record is not a claim of type once with another
	 * claim id
	 */
	abstract OptionalLong count(SqlSession session, IdempotencyKey key, ClaimId other) throws SQLException;

	/**
	 * Returns {@link RecordSql#complete} for a connection of our own. Where the database
	 * can do it, the statement does not wait for the disk if it attaches a result to
	 * executed work: if that write is lost, the record still says that the work is done.
	 */
	String completeAlone() {
		return this.alone.complete;
	}

	/**
	 * Returns {@link RecordSql#insertRecord}, without an error where the key has a record
	 * if the database can do that.
	 */
	String insertRecord(SqlSession session) {
		return session.sql().insertRecord;
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
	 * Bounds the wait for a lock in a transaction that cannot go on after a wait that was
	 * too long.
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
	 * Returns whether the clock goes on within a transaction. Where it stands still, a
	 * look in the transaction of the caller would find results that have expired since.
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

	public abstract SqlFailure classify(SQLException failure);

	/**
	 * Returns whether a failure has rolled back the whole transaction, so that the next
	 * statement would begin another transaction.
	 */
	public boolean endsTransaction(Connection connection, SqlFailure failure) throws SQLException {
		return failure == SqlFailure.DEADLOCK;
	}

	/**
	 * Deletes expired records on a connection of its own. Two nodes may call this at
	 * once. The first statement reads keys through the index. The second deletes the rows
	 * by their primary key, if they are still expired. So only single rows are locked,
	 * and claims of other keys go on.
	 * @return how many were deleted
	 */
	int purge(SqlSession session, int batchSize) throws SQLException {
		try (SqlSession.Transaction transaction = session.begin()) {
			List<byte[]> keys = expiredKeys(session, batchSize);
			int deleted = keys.isEmpty() ? 0 : session.update(this.sql.deleteExpired(keys.size()),
					(statement) -> RecordRows.bind(statement, 1, keys));
			transaction.commit();
			return deleted;
		}
	}

	private List<byte[]> expiredKeys(SqlSession session, int batchSize) throws SQLException {
		String query = this.sql.findExpired(limit(batchSize)) + (skipsLocked() ? RecordSql.SKIP_LOCKED : "");
		return session.query(query, SqlSession.NO_PARAMETERS, (rows) -> {
			List<byte[]> keys = new ArrayList<>();
			while (rows.next()) {
				keys.add(rows.getBytes(1));
			}
			if (!skipsLocked()) {
				// Two nodes that delete the same keys in the same order cannot deadlock.
				keys.sort(Arrays::compareUnsigned);
			}
			return keys;
		});
	}

	/**
	 * The bound is a part of the statements on connections of our own. They are made for
	 * the usual bound, and a call that has another one gets others.
	 *
	 * @param bound how long a statement may wait
	 * @param usual the bound that the statements have
	 * @param text the text of a bound in the statements
	 */
	record StatementsBound(Duration bound, Duration usual, Function<Duration, String> text) implements LockWait {

		@Override
		public String around(String sql, long left) {
			Duration within = Timeouts.within(this.bound, left);
			return within.equals(this.usual) ? sql : sql.replace(this.text.apply(this.usual), this.text.apply(within));
		}

	}

	/**
	 * Renews the claims whose records are not locked by another session, on a connection
	 * of its own.
	 * @param refused receives the claims that are refused
	 * @return the claims whose records are locked by another session
	 */
	List<Renewal> renewAll(SqlSession session, List<Renewal> renewals, Set<ClaimId> refused) throws SQLException {
		return Renewing.inTwoSteps(session, this.sql, byKey(), renewals, refused);
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

	/** Reads one record. */
	final @Nullable StoredRow find(SqlSession session, IdempotencyKey key) throws SQLException {
		return read(session, key.hash(), this.sql.find);
	}

	/** Reads one record without the body of its result. */
	final @Nullable StoredRow findHead(SqlSession session, IdempotencyKey key) throws SQLException {
		return findHead(session, key.hash());
	}

	/** Reads the record of a hash without the body of its result. */
	final @Nullable StoredRow findHead(SqlSession session, byte[] hash) throws SQLException {
		return read(session, hash, this.sql.findHead);
	}

	private @Nullable StoredRow read(SqlSession session, byte[] hash, String query) throws SQLException {
		return session
			.query(session.isJoined() ? query + currentRead() : query, (statement) -> statement.setBytes(1, hash),
					(rows) -> rows.next() ? Optional.of(RecordRows.read(rows, 1)) : Optional.<StoredRow>empty())
			.orElse(null);
	}

	static void bindCount(PreparedStatement statement, IdempotencyKey key, ClaimId other) throws SQLException {
		statement.setBytes(1, key.hash());
		statement.setBytes(2, RecordRows.bytes(other));
	}

	static OptionalLong firstLong(ResultSet rows) throws SQLException {
		return rows.next() ? OptionalLong.of(rows.getLong(1)) : OptionalLong.empty();
	}

}
