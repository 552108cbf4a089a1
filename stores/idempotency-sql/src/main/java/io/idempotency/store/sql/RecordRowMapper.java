package io.idempotency.store.sql;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.store.Moment;
import io.idempotency.store.RecordState;
import io.idempotency.store.StoredRecord;

import org.jspecify.annotations.Nullable;

/**
 * Converts values of the table to values of the store, and back.
 */
final class RecordRowMapper {

	private static final int MAX_OPERATION_LENGTH = 255;

	/** In microseconds. */
	private static final long HOUR = 3_600_000_000L;

	private RecordRowMapper() {
	}

	/** Reads {@link RecordSql#COLUMNS} and the clock after them. */
	static StoredRow read(SqlStep.Row row, int first) {
		StoredRecord record = new StoredRecord(state(row.text(first)), claimId(row.bytes(first + 1)),
				row.number(first + 2), fingerprint(row.bytes(first + 3)), row.number(first + 4), row.number(first + 5),
				row.number(first + 6), row.number(first + 7), result(row.text(first + 8), row.bytes(first + 9)),
				ResultKind.SUCCESS, ClaimOrigin.parse(row.text(first + 10)));
		return new StoredRow(record, row.number(first + 11));
	}

	/**
	 * Reads a state; a record of a newer version is an error and never counts as absent.
	 */
	private static RecordState state(@Nullable String letter) {
		for (RecordState state : RecordState.values()) {
			if (state != RecordState.ABSENT && state.letter().equals(letter)) {
				return state;
			}
		}
		throw new UnreadableRecordException("A record in state '" + letter + "' cannot be read by this version", null);
	}

	/**
	 * Returns the values of a record that was made at the {@linkplain Moment#origin()
	 * beginning of time}: the database adds its clock to the times, and uses the clock as
	 * the fencing token.
	 */
	static List<Object> ofNew(IdempotencyKey key, StoredRecord record) {
		return List.of(key.hash(), readable(key.label()), record.state().letter(), bytes(record.claimId()),
				record.fingerprint().toBytes(), record.leaseUntil(), record.keptUntil(), step(record.keptUntil()),
				record.keptUntil() + step(record.keptUntil()), record.tokenUntil(), format(record.result()),
				body(record.result()), origin(record.origin()));
	}

	/**
	 * Returns the values of {@link RecordSql#COLUMNS} and the time before which a purge
	 * ignores the record.
	 */
	static List<Object> of(StoredRecord record, long now) {
		return List.of(record.state().letter(), bytes(record.claimId()), record.fencingToken(),
				record.fingerprint().toBytes(), record.leaseUntil(), record.keptUntil(), record.tokenUntil(),
				record.attempts(), format(record.result()), body(record.result()), origin(record.origin()),
				record.keptUntil() + step(record.keptUntil() - now));
	}

	/** Returns the values of {@link RecordSql#purgeAfter} for a retention. */
	static List<Object> purgeAfter(long retention) {
		return List.of(step(retention), retention + step(retention));
	}

	/**
	 * Returns the unit in which the time of the purge is rounded: an hour, or the
	 * retention if that is shorter.
	 */
	private static long step(long retention) {
		return Math.max(1, Math.min(HOUR, retention));
	}

	/** Returns the values of the condition that a record is the version that was read. */
	static List<Object> unchanged(byte[] hash, StoredRecord read) {
		return List.of(hash, read.state().letter(), bytes(read.claimId()), read.fencingToken(), read.leaseUntil(),
				read.keptUntil(), read.attempts());
	}

	static Object format(@Nullable StoredResult result) {
		return (result != null) ? result.format() : String.class;
	}

	static Object body(@Nullable StoredResult result) {
		return (result != null) ? result.bytes() : byte[].class;
	}

	private static Object origin(ClaimOrigin origin) {
		return origin.equals(ClaimOrigin.UNKNOWN) ? String.class : origin.toString();
	}

	static byte[] bytes(ClaimId id) {
		return ByteBuffer.allocate(2 * Long.BYTES).putLong(id.high()).putLong(id.low()).array();
	}

	static ClaimId claimId(byte @Nullable [] bytes) {
		if (bytes == null || bytes.length != 2 * Long.BYTES) {
			throw new UnreadableRecordException(
					"A record with a claim id of " + ((bytes != null) ? bytes.length : 0) + " bytes cannot be read",
					null);
		}
		ByteBuffer buffer = ByteBuffer.wrap(bytes);
		return new ClaimId(buffer.getLong(), buffer.getLong());
	}

	/** Reads a fingerprint; some drivers return an empty value as {@code null}. */
	private static Fingerprint fingerprint(byte @Nullable [] bytes) {
		if (bytes == null) {
			return Fingerprint.NONE;
		}
		try {
			return Fingerprint.fromBytes(bytes);
		}
		catch (IllegalArgumentException ex) {
			throw new UnreadableRecordException(
					"A record with a fingerprint of " + bytes.length + " bytes cannot be read", ex);
		}
	}

	private static @Nullable StoredResult result(@Nullable String format, byte @Nullable [] body) {
		return (format != null && body != null) ? new StoredResult(format, body) : null;
	}

	/**
	 * Returns namespace and operation in a readable form. The hash alone is the identity.
	 * Some databases reject control characters and halves of surrogate pairs, so these
	 * become underscores.
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

	/**
	 * One row of the table, as a query has read it.
	 *
	 * @param now the database's clock at the time of the query
	 */
	record StoredRow(StoredRecord record, long now) {

		/** Creates the value for a key without a row. */
		static StoredRow missing(long now) {
			return new StoredRow(StoredRecord.ABSENT, now);
		}

		boolean isMissing() {
			return this.record == StoredRecord.ABSENT;
		}

		/** Returns the time of the query. */
		Moment moment() {
			return new Moment(this.now, new AtomicLong(this.record.fencingToken()));
		}

		/**
		 * Returns the record, or the absent record if the row has expired and only waits
		 * to be purged.
		 */
		StoredRecord current() {
			return this.record.isLive(moment()) ? this.record : StoredRecord.ABSENT;
		}

	}

}
