package io.idempotency.store.sql;

import java.util.List;
import java.util.function.UnaryOperator;

/**
 * The statements that all databases support, created once for a table. Each statement is
 * atomic; its {@code WHERE} specifies the expected state of the record.
 */
final class RecordSql {

	/** The columns of a query, in the order of {@link RecordRowMapper}. */
	static final String COLUMNS = "state, claim_id, fence, fingerprint, lease_until, kept_until, token_until, attempts,"
			+ " result_format, result_body, origin";

	private static final String HEAD = "state, claim_id, fence, fingerprint, lease_until, kept_until, token_until, attempts,"
			+ " result_format, NULL, origin";

	private static final String INSERTED = "key_hash, operation, state, claim_id, fence, fingerprint, lease_until,"
			+ " kept_until, purge_after, token_until, result_format, result_body, origin, attempts";

	/** All columns that are written. */
	private static final String WRITTEN = "key_hash, operation, " + COLUMNS + ", purge_after";

	/**
	 * The text after a query that locks its rows and skips the rows that another session
	 * has locked.
	 */
	static final String SKIP_LOCKED = " FOR UPDATE SKIP LOCKED";

	private static final String UNCHANGED = " WHERE key_hash = ? AND state = ? AND claim_id = ? AND fence = ?"
			+ " AND lease_until = ? AND kept_until = ? AND attempts = ?";

	private static final String UNFINISHED = "state IN ('R', 'A', 'X')";

	/** Reads a record. */
	final String find;

	/**
	 * Reads a record as {@link #find} does, without the body of the result, which may be
	 * large.
	 */
	final String findHead;

	/**
	 * Reads a record as {@link #findHead} does, as soon as no other transaction is
	 * changing it.
	 */
	final String findHeadLocked;

	/** Inserts a whole record with the times of the caller. */
	final String insertRecord;

	/**
	 * Replaces the record that was read, if it is unchanged. Every change of a record
	 * changes at least one of the compared columns.
	 */
	final String replace;

	/** Deletes the record that was read, if it is unchanged. */
	final String delete;

	/** Completes a record that is ours and running or executed. */
	final String complete;

	/**
	 * Deletes a record instead of completing it, because the call is not to be
	 * remembered. The record is ours and running or executed.
	 */
	final String forget;

	/**
	 * Deletes a record that still belongs to its claim. A record that was taken over
	 * stays.
	 */
	final String release;

	/** Turns our claim of a token into the issued token again, with its first expiry. */
	final String releaseToken;

	/** Renews our claim. */
	final String renew;

	private final String table;

	private final String now;

	private final String nowAfterReading;

	private final UnaryOperator<String> bounded;

	/**
	 * Creates the statements.
	 * @param now the expression for the clock
	 * @param nowAfterReading the expression for the clock in a statement that reads a
	 * row: never earlier than the time of a record that was committed before
	 * @param bounded adds the bound on the wait for a row lock to a statement that
	 * changes one row and ends with its condition
	 */
	RecordSql(TableName table, String now, String nowAfterReading, UnaryOperator<String> bounded) {
		this.table = table.text();
		this.now = now;
		this.nowAfterReading = nowAfterReading;
		this.bounded = bounded;
		String live = live();
		String ours = " WHERE key_hash = ? AND claim_id = ? AND ";
		String update = "UPDATE " + this.table + " SET ";
		String deleteFrom = "DELETE FROM " + this.table;
		this.find = select(COLUMNS);
		this.findHead = select(HEAD);
		this.findHeadLocked = bounded.apply(this.findHead) + " FOR UPDATE";
		this.insertRecord = "INSERT INTO " + this.table + " (" + WRITTEN
				+ ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
		this.replace = bounded.apply(update + "state = ?, claim_id = ?, fence = ?, fingerprint = ?, lease_until = ?,"
				+ " kept_until = ?, token_until = ?, attempts = ?, result_format = ?, result_body = ?, origin = ?,"
				+ " purge_after = ?" + UNCHANGED);
		this.delete = bounded.apply(deleteFrom + UNCHANGED);
		this.complete = bounded.apply(update + "state = ?, claim_id = ?, result_format = ?, result_body = ?,"
				+ " lease_until = " + now + " + ?, kept_until = " + now + " + ?, purge_after = GREATEST(purge_after, "
				+ purgeAfter(now) + ")" + ours + UNFINISHED + " AND " + live);
		this.forget = bounded.apply(deleteFrom + ours + UNFINISHED);
		this.release = bounded.apply(deleteFrom + ours + "state IN ('R', 'O')");
		this.releaseToken = bounded.apply(update + "state = 'I', claim_id = ?, fingerprint = ?, origin = NULL,"
				+ " lease_until = 0, kept_until = token_until, purge_after = GREATEST(purge_after, token_until)" + ours
				+ "state IN ('R', 'O') AND " + live);
		this.renew = bounded.apply(update + "lease_until = " + now + " + ?" + ours + running());
	}

	private String select(String columns) {
		return "SELECT " + columns + ", " + this.nowAfterReading + " FROM " + this.table + " WHERE key_hash = ?";
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
	 * Returns an insert with the columns of a new record, for
	 * {@link RecordRowMapper#ofNew}.
	 */
	String insertInto() {
		return "INSERT INTO " + this.table + " (" + INSERTED + ")";
	}

	/**
	 * Returns the values of a new record; its times count from the given clock, and the
	 * given expression is its fencing token.
	 */
	static String newRecord(String now, String fencingToken) {
		return "?, ?, ?, ?, " + fencingToken + ", ?, " + now + " + ?, " + now + " + ?, " + purgeAfter(now) + ", " + now
				+ " + ?, ?, ?, ?, 1";
	}

	/**
	 * Returns the time before which a purge ignores a record. The clock is rounded down,
	 * so the time is the same for the claim and the completion of a call, and the
	 * completion changes no index. {@link RecordRowMapper#purgeAfter} has the values.
	 */
	private static String purgeAfter(String now) {
		return now + " - MOD(" + now + ", ?) + ?";
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

	private String live() {
		return "(kept_until > " + this.now + " OR lease_until > " + this.now + ")";
	}

	private static String parameters(int count) {
		return "?" + ", ?".repeat(count - 1);
	}

	/** Counts one more claim; the expression returns the new number of attempts. */
	String count(String attempts) {
		return this.bounded.apply("UPDATE " + this.table + " SET attempts = " + attempts
				+ " WHERE key_hash = ? AND state = 'O' AND claim_id <> ? AND kept_until > " + this.now);
	}

	/** Finds keys of expired records, the oldest first. */
	String findExpired(String limit) {
		return "SELECT key_hash FROM " + this.table + " WHERE " + expired(this.now) + " ORDER BY purge_after" + limit;
	}

	/** Deletes those of the given keys that are expired. */
	String deleteExpired(int keys) {
		return "DELETE FROM " + this.table + " WHERE key_hash IN (" + parameters(keys) + ") AND kept_until <= "
				+ this.now + " AND lease_until <= " + this.now;
	}

	/**
	 * Returns the condition of expired records for a purge, for the given expression of
	 * the clock.
	 */
	static String expired(String clock) {
		return "purge_after <= " + clock + " AND kept_until <= " + clock + " AND lease_until <= " + clock;
	}

	/** Returns statements that change nothing and fail if the table cannot be written. */
	List<String> writeProbes() {
		return List.of(
				"INSERT INTO " + this.table + " (" + WRITTEN + ") SELECT " + WRITTEN + " FROM " + this.table
						+ " WHERE 1 = 0",
				"UPDATE " + this.table + " SET attempts = attempts WHERE 1 = 0",
				"DELETE FROM " + this.table + " WHERE 1 = 0");
	}

	/** Returns a query that reads no rows and fails if a column is missing. */
	String probe() {
		return "SELECT " + WRITTEN + " FROM " + this.table + " WHERE 1 = 0";
	}

}
