package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.Renewal;
import io.idempotency.store.record.StoredRecord;

import org.jspecify.annotations.Nullable;

/**
 * What one database does in its own way.
 */
abstract class Dialect {

	private final String vendor;

	private final RecordSql sql;

	/**
	 * Creates the dialect.
	 * @param vendor how its scripts are called
	 * @param table the table
	 * @param now the expression for the clock: microseconds since 1970, UTC
	 * @param nowAfterReading the same where a row is read
	 */
	Dialect(String vendor, TableName table, String now, String nowAfterReading) {
		this.vendor = vendor;
		this.sql = new RecordSql(table, now, nowAfterReading);
	}

	String vendor() {
		return this.vendor;
	}

	/** The statements for the table with the clock of this database. */
	RecordSql sql() {
		return this.sql;
	}

	/**
	 * Writes a record where there is none, else reads the one that is there: one
	 * statement where the database can do that without writing for a duplicate.
	 */
	abstract Insertion insertOrFind(SqlSession session, IdempotencyKey key, StoredRecord fresh) throws SQLException;

	/**
	 * Counts one more claim of type once.
	 * @return the attempts, empty if the record is no such claim of another
	 */
	abstract OptionalLong count(SqlSession session, IdempotencyKey key, ClaimId other) throws SQLException;

	/** Appended to an insert that may meet a record, so that it gives no error. */
	String orDoNothing() {
		return "";
	}

	/**
	 * Appended to a reading in somebody else's transaction, so that it sees what was
	 * committed after that transaction began to read.
	 */
	String currentRead() {
		return "";
	}

	/** Bounds the wait for a lock in somebody else's transaction, which goes on. */
	abstract LockWait lockWait(Duration bound);

	/** Bounds the wait for a lock where each statement is a transaction. */
	LockWait ownLockWait(Duration bound) {
		return lockWait(bound);
	}

	abstract SqlFailure classify(SQLException failure);

	/**
	 * Whether a failure has rolled back the whole transaction, so that the next statement
	 * would begin another one.
	 */
	boolean endsTransaction(Connection connection, SqlFailure failure) throws SQLException {
		return failure == SqlFailure.DEADLOCK;
	}

	/**
	 * Deletes expired records on a connection of its own; two nodes may do so at once.
	 * @return how many were deleted
	 */
	int purge(SqlSession session, int batchSize) throws SQLException {
		return Purge.inTwoSteps(session, this.sql, limit(batchSize), skipsLocked());
	}

	/**
	 * Renews those claims whose records nobody else holds locked, on a connection of its
	 * own.
	 * @param refused gets those that are refused
	 * @return those whose records are held
	 */
	List<Renewal> renewAll(SqlSession session, List<Renewal> renewals, Set<ClaimId> refused) throws SQLException {
		return Renewing.inTwoSteps(session, this.sql, byKey(), renewals, refused);
	}

	/** Appended to the table where rows are to be found by the primary key alone. */
	String byKey() {
		return "";
	}

	/** What limits a query to so many rows. */
	String limit(int rows) {
		return " LIMIT " + rows;
	}

	/** Whether two purges can pass each other's rows by. */
	boolean skipsLocked() {
		return true;
	}

	/** Reads one record. */
	final @Nullable StoredRow find(SqlSession session, IdempotencyKey key) throws SQLException {
		return read(session, key, this.sql.find());
	}

	/** Reads one record without the body of its result. */
	final @Nullable StoredRow findHead(SqlSession session, IdempotencyKey key) throws SQLException {
		return read(session, key, this.sql.findHead());
	}

	private @Nullable StoredRow read(SqlSession session, IdempotencyKey key, String query) throws SQLException {
		return session
			.query(session.isJoined() ? query + currentRead() : query, (statement) -> statement.setBytes(1, key.hash()),
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
