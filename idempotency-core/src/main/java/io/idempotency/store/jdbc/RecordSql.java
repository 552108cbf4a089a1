package io.idempotency.store.jdbc;

/**
 * The statements that all databases understand, made once for a table. Each one is atomic
 * by itself; what it must find is in its {@code WHERE}.
 */
final class RecordSql {

	/** What a reading has, in the order of {@link RecordRows}. */
	static final String COLUMNS = "state, claim_id, fence, fingerprint, lease_until, kept_until, token_until, attempts,"
			+ " result_format, result_body";

	private static final String HEAD = "state, claim_id, fence, fingerprint, lease_until, kept_until, token_until, attempts,"
			+ " result_format, NULL";

	private static final String INSERTED = "key_hash, operation, state, claim_id, fence, fingerprint, lease_until,"
			+ " kept_until, token_until, attempts";

	/** Appended to a reading that locks what nobody else has locked, and no more. */
	static final String SKIP_LOCKED = " FOR UPDATE SKIP LOCKED";

	private static final String UNCHANGED = " WHERE key_hash = ? AND state = ? AND claim_id = ? AND fence = ?"
			+ " AND lease_until = ? AND kept_until = ? AND attempts = ?";

	private final String table;

	private final String now;

	private final String nowAfterReading;

	/**
	 * Makes the statements.
	 * @param table the table
	 * @param now the expression for the clock
	 * @param nowAfterReading the expression for the clock where a row is read: not
	 * earlier than what was committed before
	 */
	RecordSql(TableName table, String now, String nowAfterReading) {
		this.table = table.text();
		this.now = now;
		this.nowAfterReading = nowAfterReading;
	}

	/** The table as the statements name it. */
	String table() {
		return this.table;
	}

	/** The expression for the database's clock. */
	String now() {
		return this.now;
	}

	/** The expression for the clock behind the columns of a reading. */
	String nowAfterReading() {
		return this.nowAfterReading;
	}

	String clock() {
		return "SELECT " + this.now;
	}

	/** The columns of a new record, for {@link RecordRows#bindNew}. */
	String insertInto() {
		return "INSERT INTO " + this.table + " (" + INSERTED + ")";
	}

	/** A new record whose times count from the given expression, which is its fence. */
	String newRecord(String fence) {
		return "?, ?, ?, ?, " + fence + ", ?, " + this.now + " + ?, " + this.now + " + ?, " + this.now + " + ?, 1";
	}

	/** A whole record with the times of the caller. */
	String insertRecord() {
		return "INSERT INTO " + this.table + " (key_hash, operation, " + COLUMNS
				+ ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
	}

	String find() {
		return "SELECT " + COLUMNS + ", " + this.nowAfterReading + " FROM " + this.table + " WHERE key_hash = ?";
	}

	/** As {@link #find()} without the body of the result, which may be large. */
	String findHead() {
		return "SELECT " + HEAD + ", " + this.nowAfterReading + " FROM " + this.table + " WHERE key_hash = ?";
	}

	/**
	 * Replaces the record that was read, if it is still the same: every change of a
	 * record changes one of these.
	 */
	String replace() {
		return "UPDATE " + this.table + " SET state = ?, claim_id = ?, fence = ?, fingerprint = ?, lease_until = ?,"
				+ " kept_until = ?, token_until = ?, attempts = ?, result_format = ?, result_body = ?" + UNCHANGED;
	}

	/** Deletes the record that was read, likewise. */
	String delete() {
		return "DELETE FROM " + this.table + UNCHANGED;
	}

	/** Ours and running or executed, or nobody's. */
	String complete() {
		return "UPDATE " + this.table
				+ " SET state = ?, claim_id = ?, result_format = ?, result_body = ?, lease_until = " + this.now
				+ " + ?, kept_until = " + this.now + " + ? WHERE key_hash = ? AND "
				+ "((claim_id = ? AND state IN ('R', 'A', 'X')) OR state = 'N') AND " + live();
	}

	/** As {@link #complete()}, and nothing is to be remembered. */
	String forget() {
		return "DELETE FROM " + this.table + " WHERE key_hash = ? AND "
				+ "((claim_id = ? AND state IN ('R', 'A', 'X')) OR state IN ('N', 'I'))";
	}

	/** Not what was taken over: that is left as nobody's. */
	String release() {
		return "DELETE FROM " + this.table + " WHERE key_hash = ? AND claim_id = ? AND state IN ('R', 'O')";
	}

	/** A token is issued again with its first expiry; one that is over is expired so. */
	String releaseToken() {
		return "UPDATE " + this.table + " SET state = 'I', claim_id = ?, fingerprint = ?, lease_until = 0,"
				+ " kept_until = token_until WHERE key_hash = ? AND claim_id = ? AND state IN ('R', 'O') AND " + live();
	}

	String renew() {
		return "UPDATE " + this.table + " SET lease_until = " + this.now
				+ " + ? WHERE key_hash = ? AND claim_id = ? AND " + running();
	}

	/**
	 * Claims that may be renewed, of so many keys.
	 * @param byKey what makes sure that no other rows are locked
	 */
	String findRunning(String byKey, int keys) {
		return "SELECT claim_id FROM " + this.table + byKey + " WHERE key_hash IN (" + parameters(keys) + ") AND "
				+ running();
	}

	/**
	 * Renews so many claims that were found and are locked.
	 * @param byKey likewise
	 */
	String renewLocked(String byKey, int claims) {
		return "UPDATE " + this.table + byKey + " SET lease_until = " + this.now + " + ? WHERE key_hash IN ("
				+ parameters(claims) + ")";
	}

	/** What may be renewed. */
	String running() {
		return "state IN ('R', 'A') AND " + live();
	}

	private static String parameters(int count) {
		return "?" + ", ?".repeat(count - 1);
	}

	/** Counts one more claim; the expression is what the attempts become. */
	String count(String attempts) {
		return "UPDATE " + this.table + " SET attempts = " + attempts
				+ " WHERE key_hash = ? AND state = 'O' AND claim_id <> ? AND kept_until > " + this.now;
	}

	private String live() {
		return "(kept_until > " + this.now + " OR lease_until > " + this.now + ")";
	}

	/** Keys of expired records, those first that have been so for longest. */
	String findExpired(String limit) {
		return "SELECT key_hash FROM " + this.table + " WHERE " + expired(this.now) + " ORDER BY kept_until" + limit;
	}

	/**
	 * So many of the given keys as are expired. By the primary key only, which the sum
	 * makes sure of: through the other index it would lock all that is expired.
	 */
	String deleteExpired(int keys) {
		return "DELETE FROM " + this.table + " WHERE key_hash IN (" + parameters(keys) + ") AND kept_until + 0 <= "
				+ this.now + " AND lease_until <= " + this.now;
	}

	/** Which records are expired; the clock is the expression. */
	static String expired(String clock) {
		return "kept_until <= " + clock + " AND lease_until <= " + clock;
	}

	/** A query that reads nothing and fails if a column is missing. */
	String probe() {
		return "SELECT key_hash, operation, " + COLUMNS + " FROM " + this.table + " WHERE 1 = 0";
	}

}
