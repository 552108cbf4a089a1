package io.idempotency.store.jdbc.sql;

import java.util.List;

import io.idempotency.Internal;

/**
 * The statements that all databases understand, made once for a table. Each statement is
 * atomic; its {@code WHERE} says in which state it must find the record.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class RecordSql {

	/** The columns of a query, in the order of {@link RecordRows}. */
	static final String COLUMNS = "state, claim_id, fence, fingerprint, lease_until, kept_until, token_until, attempts,"
			+ " result_format, result_body, origin";

	private static final String HEAD = "state, claim_id, fence, fingerprint, lease_until, kept_until, token_until, attempts,"
			+ " result_format, NULL, origin";

	private static final String INSERTED = "key_hash, operation, state, claim_id, fence, fingerprint, lease_until,"
			+ " kept_until, token_until, result_format, result_body, origin, attempts";

	/**
	 * The text after a query that locks its rows and skips the rows that another session
	 * has locked.
	 */
	static final String SKIP_LOCKED = " FOR UPDATE SKIP LOCKED";

	private static final String UNCHANGED = " WHERE key_hash = ? AND state = ? AND claim_id = ? AND fence = ?"
			+ " AND lease_until = ? AND kept_until = ? AND attempts = ?";

	private static final String UNFINISHED = "state IN ('R', 'A', 'X')";

	private final String table;

	private final String now;

	private final String nowAfterReading;

	/**
	 * Makes the statements.
	 * @param table the table
	 * @param now the expression for the clock
	 * @param nowAfterReading the expression for the clock in a statement that reads a
	 * row: never earlier than the time of a record that was committed before
	 */
	RecordSql(TableName table, String now, String nowAfterReading) {
		this.table = table.text();
		this.now = now;
		this.nowAfterReading = nowAfterReading;
	}

	/** Returns the name of the table in the statements. */
	String table() {
		return this.table;
	}

	/** Returns the expression for the database's clock. */
	String now() {
		return this.now;
	}

	/** Returns the expression for the clock after the columns of a query. */
	String nowAfterReading() {
		return this.nowAfterReading;
	}

	String clock() {
		return "SELECT " + this.now;
	}

	/**
	 * Returns an insert with the columns of a new record, for {@link RecordRows#bindNew}.
	 */
	String insertInto() {
		return "INSERT INTO " + this.table + " (" + INSERTED + ")";
	}

	/**
	 * Returns the values of a new record; its times count from the database's clock, and
	 * the given expression is its fence.
	 */
	String newRecord(String fence) {
		return "?, ?, ?, ?, " + fence + ", ?, " + this.now + " + ?, " + this.now + " + ?, " + this.now
				+ " + ?, ?, ?, ?, 1";
	}

	/** Returns an insert of a whole record with the times of the caller. */
	String insertRecord() {
		return "INSERT INTO " + this.table + " (key_hash, operation, " + COLUMNS
				+ ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	}

	String find() {
		return "SELECT " + COLUMNS + ", " + this.nowAfterReading + " FROM " + this.table + " WHERE key_hash = ?";
	}

	/**
	 * Returns the query of {@link #find()} without the body of the result, which may be
	 * large.
	 */
	String findHead() {
		return "SELECT " + HEAD + ", " + this.nowAfterReading + " FROM " + this.table + " WHERE key_hash = ?";
	}

	/**
	 * Reads a range of the primary key, without the bodies of results; the text that
	 * limits the rows follows.
	 */
	String scan() {
		return "SELECT key_hash, operation, " + HEAD + ", " + this.nowAfterReading + " FROM " + this.table
				+ " WHERE key_hash > ? AND key_hash <= ? ORDER BY key_hash";
	}

	/**
	 * Replaces the record that was read, if it is unchanged. Every change of a record
	 * changes at least one of the compared columns.
	 */
	String replace() {
		return "UPDATE " + this.table + " SET state = ?, claim_id = ?, fence = ?, fingerprint = ?, lease_until = ?,"
				+ " kept_until = ?, token_until = ?, attempts = ?, result_format = ?, result_body = ?, origin = ?"
				+ UNCHANGED;
	}

	/** Deletes the record that was read, if it is unchanged. */
	String delete() {
		return "DELETE FROM " + this.table + UNCHANGED;
	}

	/** Completes a record that is ours and running or executed. */
	String complete() {
		return "UPDATE " + this.table
				+ " SET state = ?, claim_id = ?, result_format = ?, result_body = ?, lease_until = " + this.now
				+ " + ?, kept_until = " + this.now + " + ? WHERE key_hash = ? AND claim_id = ? AND " + UNFINISHED
				+ " AND " + live();
	}

	/**
	 * Deletes a record instead of completing it, because the call is not to be
	 * remembered. The record is ours and running or executed.
	 */
	String forget() {
		return "DELETE FROM " + this.table + " WHERE key_hash = ? AND claim_id = ? AND " + UNFINISHED;
	}

	/**
	 * Deletes a record as {@link #forget()} does, even if it is done: its own transaction
	 * has written that, and takes it back.
	 */
	String takeBack() {
		return "DELETE FROM " + this.table + " WHERE key_hash = ? AND claim_id = ? AND state <> 'O'";
	}

	/**
	 * Deletes our record. A record that was taken over is not deleted here: it stays as
	 * nobody's.
	 */
	String release() {
		return "DELETE FROM " + this.table + " WHERE key_hash = ? AND claim_id = ? AND state IN ('R', 'O')";
	}

	/** Turns our claim of a token into the issued token again, with its first expiry. */
	String releaseToken() {
		return "UPDATE " + this.table
				+ " SET state = 'I', claim_id = ?, fingerprint = ?, origin = NULL, lease_until = 0,"
				+ " kept_until = token_until WHERE key_hash = ? AND claim_id = ? AND state IN ('R', 'O') AND " + live();
	}

	String renew() {
		return "UPDATE " + this.table + " SET lease_until = " + this.now
				+ " + ? WHERE key_hash = ? AND claim_id = ? AND " + running();
	}

	/**
	 * Finds the claims of the given keys that may be renewed.
	 * @param byKey the text that makes sure that no other rows are locked
	 */
	String findRunning(String byKey, int keys) {
		return "SELECT claim_id FROM " + this.table + byKey + " WHERE key_hash IN (" + parameters(keys) + ") AND "
				+ running();
	}

	/**
	 * Renews claims whose rows were found and are locked by this transaction.
	 * @param byKey the text that makes sure that no other rows are locked
	 */
	String renewLocked(String byKey, int claims) {
		return "UPDATE " + this.table + byKey + " SET lease_until = " + this.now + " + ? WHERE key_hash IN ("
				+ parameters(claims) + ")";
	}

	/** Returns the condition of records that may be renewed. */
	String running() {
		return "state IN ('R', 'A') AND " + live();
	}

	private static String parameters(int count) {
		return "?" + ", ?".repeat(count - 1);
	}

	/** Counts one more claim; the expression gives the new number of attempts. */
	String count(String attempts) {
		return "UPDATE " + this.table + " SET attempts = " + attempts
				+ " WHERE key_hash = ? AND state = 'O' AND claim_id <> ? AND kept_until > " + this.now;
	}

	private String live() {
		return "(kept_until > " + this.now + " OR lease_until > " + this.now + ")";
	}

	/** Finds keys of expired records, the longest expired first. */
	String findExpired(String limit) {
		return "SELECT key_hash FROM " + this.table + " WHERE " + expired(this.now) + " ORDER BY kept_until" + limit;
	}

	/**
	 * Deletes those of the given keys that are expired. The sum {@code kept_until + 0}
	 * makes the database use the primary key: through the other index, the statement
	 * would lock all expired rows.
	 */
	String deleteExpired(int keys) {
		return "DELETE FROM " + this.table + " WHERE key_hash IN (" + parameters(keys) + ") AND kept_until + 0 <= "
				+ this.now + " AND lease_until <= " + this.now;
	}

	/**
	 * Returns the condition of expired records, for the given expression of the clock.
	 */
	static String expired(String clock) {
		return "kept_until <= " + clock + " AND lease_until <= " + clock;
	}

	/** Returns statements that change nothing and fail if the table cannot be written. */
	public List<String> writeProbes() {
		String columns = "key_hash, operation, " + COLUMNS;
		return List.of(
				"INSERT INTO " + this.table + " (" + columns + ") SELECT " + columns + " FROM " + this.table
						+ " WHERE 1 = 0",
				"UPDATE " + this.table + " SET attempts = attempts WHERE 1 = 0",
				"DELETE FROM " + this.table + " WHERE 1 = 0");
	}

	/** Returns a query that reads nothing and fails if a column is missing. */
	public String probe() {
		return "SELECT key_hash, operation, " + COLUMNS + " FROM " + this.table + " WHERE 1 = 0";
	}

}
