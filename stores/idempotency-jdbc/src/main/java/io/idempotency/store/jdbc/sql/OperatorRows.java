package io.idempotency.store.jdbc.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.Internal;
import io.idempotency.key.CallerId;
import io.idempotency.store.RecordAdmin.Eviction;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.record.RecordView;
import io.idempotency.store.record.Transition;

import org.jspecify.annotations.Nullable;

/**
 * Finds, lists and removes rows for operators, on a given connection.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class OperatorRows {

	private static final int HASH_LENGTH = 32;

	private final SqlSession session;

	private final Dialect dialect;

	OperatorRows(SqlSession session) {
		this.session = session;
		this.dialect = session.dialect();
	}

	public Optional<IdempotencyRecord> find(RecordKey key) throws SQLException {
		StoredRow row = this.dialect.findHead(this.session, key.hashBytes());
		return (row != null && row.record().isLive(row.moment()))
				? Optional.of(RecordView.of(key.label(), key.hash(), row.record(), row.moment())) : Optional.empty();
	}

	public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count)
			throws SQLException {
		byte[] after = (cursor != null) ? HexFormat.of().parseHex(cursor) : bound(selection.caller(), 0);
		String operation = (selection.label() != null) ? RecordRows.readable(selection.label()) : null;
		return this.session.query(this.session.sql().scan() + this.dialect.limit(count), (statement) -> {
			statement.setBytes(1, after);
			statement.setBytes(2, bound(selection.caller(), 0xFF));
		}, (rows) -> page(rows, operation, count));
	}

	/** Returns the first or the last hash of a caller, or of all callers. */
	private static byte[] bound(@Nullable CallerId caller, int rest) {
		byte[] bound = new byte[HASH_LENGTH];
		Arrays.fill(bound, (byte) rest);
		if (caller != null) {
			System.arraycopy(caller.toBytes(), 0, bound, 0, CallerId.LENGTH);
		}
		return bound;
	}

	private static IdempotencyRecordPage page(ResultSet rows, @Nullable String operation, int count)
			throws SQLException {
		List<IdempotencyRecord> records = new ArrayList<>();
		String last = null;
		int read = 0;
		while (rows.next()) {
			read++;
			last = HexFormat.of().formatHex(rows.getBytes(1));
			String label = rows.getString(2);
			if (operation == null || operation.equals(label)) {
				StoredRow row = RecordRows.read(rows, 3);
				if (row.record().isLive(row.moment())) {
					records.add(RecordView.of(label, last, row.record(), row.moment()));
				}
			}
		}
		return new IdempotencyRecordPage(records, (read < count) ? null : last);
	}

	/**
	 * Deletes exactly the version of the record that was read, so that a call that claims
	 * the key at the same time keeps its claim.
	 */
	public Eviction evict(RecordKey key, boolean force) throws SQLException {
		byte[] hash = key.hashBytes();
		return JdbcVerbs.rounds((round) -> {
			StoredRow row = this.dialect.findHead(this.session, hash);
			if (row == null) {
				return Eviction.ABSENT;
			}
			Transition<Eviction> step = row.current().evict(force, row.moment());
			return (step.answer() != Eviction.EVICTED || this.session.update(this.session.sql().delete,
					(statement) -> RecordRows.bindUnchanged(statement, 1, hash, row.record())) == 1) ? step.answer()
							: null;
		});
	}

}
