package io.idempotency.store.jdbc.sql;

import java.nio.ByteBuffer;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import io.idempotency.store.record.Moment;
import io.idempotency.store.record.RecordState;
import io.idempotency.store.record.StoredRecord;

import org.jspecify.annotations.Nullable;

/**
 * Converts values of the table to values of the store, and back.
 */
final class RecordRows {

	/** The number of parameters that {@link #bindNew} sets. */
	static final int NEW_PARAMETERS = 11;

	private static final int MAX_OPERATION_LENGTH = 255;

	private RecordRows() {
	}

	/** Reads {@link RecordSql#COLUMNS} and the clock after them. */
	static StoredRow read(ResultSet row, int first) throws SQLException {
		StoredRecord record = new StoredRecord(state(row.getString(first)), claimId(row.getBytes(first + 1)),
				row.getLong(first + 2), fingerprint(row.getBytes(first + 3)), row.getLong(first + 4),
				row.getLong(first + 5), row.getLong(first + 6), row.getLong(first + 7),
				result(row.getString(first + 8), row.getBytes(first + 9)), ResultKind.SUCCESS,
				ClaimOrigin.parse(row.getString(first + 10)));
		return new StoredRow(record, row.getLong(first + 11));
	}

	/**
	 * Reads a state; a record of a newer version is an error and never counts as absent.
	 */
	private static RecordState state(String letter) throws SQLException {
		for (RecordState state : RecordState.values()) {
			if (state != RecordState.ABSENT && state.letter().equals(letter)) {
				return state;
			}
		}
		throw new UnreadableRowException("A record in state '" + letter + "' cannot be read by this version", null);
	}

	/**
	 * Binds a record that was made at the {@linkplain Moment#origin() beginning of time}:
	 * the database adds its clock to the times, and uses the clock as the fence.
	 */
	static void bindNew(PreparedStatement statement, IdempotencyKey key, StoredRecord record) throws SQLException {
		statement.setBytes(1, key.hash());
		statement.setString(2, readable(key.label()));
		statement.setString(3, record.state().letter());
		statement.setBytes(4, bytes(record.claimId()));
		statement.setBytes(5, record.fingerprint().toBytes());
		statement.setLong(6, record.leaseUntil());
		statement.setLong(7, record.keptUntil());
		statement.setLong(8, record.tokenUntil());
		int next = bind(statement, 9, record.result());
		bind(statement, next, record.origin());
	}

	/** Binds {@link RecordSql#COLUMNS}. */
	static int bind(PreparedStatement statement, int first, StoredRecord record) throws SQLException {
		statement.setString(first, record.state().letter());
		statement.setBytes(first + 1, bytes(record.claimId()));
		statement.setLong(first + 2, record.fence());
		statement.setBytes(first + 3, record.fingerprint().toBytes());
		statement.setLong(first + 4, record.leaseUntil());
		statement.setLong(first + 5, record.keptUntil());
		statement.setLong(first + 6, record.tokenUntil());
		statement.setLong(first + 7, record.attempts());
		int next = bind(statement, first + 8, record.result());
		return bind(statement, next, record.origin());
	}

	/** Binds the condition that a record is the version that was read. */
	static void bindUnchanged(PreparedStatement statement, int first, byte[] hash, StoredRecord read)
			throws SQLException {
		statement.setBytes(first, hash);
		statement.setString(first + 1, read.state().letter());
		statement.setBytes(first + 2, bytes(read.claimId()));
		statement.setLong(first + 3, read.fence());
		statement.setLong(first + 4, read.leaseUntil());
		statement.setLong(first + 5, read.keptUntil());
		statement.setLong(first + 6, read.attempts());
	}

	/** Binds format and body. */
	static int bind(PreparedStatement statement, int first, @Nullable StoredResult result) throws SQLException {
		if (result == null) {
			statement.setNull(first, Types.VARCHAR);
			statement.setNull(first + 1, Types.VARBINARY);
		}
		else {
			statement.setString(first, result.format());
			statement.setBytes(first + 1, result.bytes());
		}
		return first + 2;
	}

	private static int bind(PreparedStatement statement, int first, ClaimOrigin origin) throws SQLException {
		if (origin.equals(ClaimOrigin.UNKNOWN)) {
			statement.setNull(first, Types.VARCHAR);
		}
		else {
			statement.setString(first, origin.toString());
		}
		return first + 1;
	}

	/** Binds a list of values. */
	static int bind(PreparedStatement statement, int first, List<byte[]> values) throws SQLException {
		for (int i = 0; i < values.size(); i++) {
			statement.setBytes(first + i, values.get(i));
		}
		return first + values.size();
	}

	static byte[] bytes(ClaimId id) {
		return ByteBuffer.allocate(2 * Long.BYTES).putLong(id.high()).putLong(id.low()).array();
	}

	static ClaimId claimId(byte[] bytes) throws SQLException {
		if (bytes.length != 2 * Long.BYTES) {
			throw new UnreadableRowException("A record with a claim id of " + bytes.length + " bytes cannot be read",
					null);
		}
		ByteBuffer buffer = ByteBuffer.wrap(bytes);
		return new ClaimId(buffer.getLong(), buffer.getLong());
	}

	/** Reads a fingerprint; some drivers return an empty value as {@code null}. */
	private static Fingerprint fingerprint(byte @Nullable [] bytes) throws SQLException {
		if (bytes == null) {
			return Fingerprint.NONE;
		}
		try {
			return Fingerprint.fromBytes(bytes);
		}
		catch (IllegalArgumentException ex) {
			throw new UnreadableRowException("A record with a fingerprint of " + bytes.length + " bytes cannot be read",
					ex);
		}
	}

	private static @Nullable StoredResult result(@Nullable String format, byte @Nullable [] body) {
		return (format != null && body != null) ? new StoredResult(format, body) : null;
	}

	/**
	 * Returns namespace and operation for people who read the table; the hash alone is
	 * the identity. Some databases refuse control characters and halves of surrogate
	 * pairs, so these become underscores.
	 */
	static String readable(String label) {
		StringBuilder readable = new StringBuilder(Math.min(label.length(), MAX_OPERATION_LENGTH));
		label.codePoints().limit(MAX_OPERATION_LENGTH).forEach((c) -> readable.appendCodePoint(isText(c) ? c : '_'));
		return readable.toString();
	}

	private static boolean isText(int c) {
		int type = Character.getType(c);
		return type != Character.CONTROL && type != Character.SURROGATE;
	}

}
