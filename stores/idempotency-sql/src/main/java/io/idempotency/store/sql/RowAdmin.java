package io.idempotency.store.sql;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.key.CallerId;
import io.idempotency.store.RecordAdmin.Eviction;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.RecordView;
import io.idempotency.store.StoredRecord.Transition;
import io.idempotency.store.sql.RecordRows.StoredRow;
import io.idempotency.store.sql.SqlMove.Sql;

import org.jspecify.annotations.Nullable;

/**
 * Finds, lists and removes rows for operators.
 */
final class RowAdmin {

	private static final int HASH_LENGTH = 32;

	private final Dialect dialect;

	RowAdmin(Dialect dialect) {
		this.dialect = dialect;
	}

	SqlMove<Optional<IdempotencyRecord>> find(RecordKey key) {
		return this.dialect.findHead(key.hashBytes(),
				(found) -> SqlMove.done(found.filter((row) -> row.record().isLive(row.moment()))
					.map((row) -> RecordView.of(key.label(), key.hash(), row.record(), row.moment()))));
	}

	SqlMove<IdempotencyRecordPage> scan(RecordSelection selection, @Nullable String cursor, int count) {
		byte[] after = (cursor != null) ? HexFormat.of().parseHex(cursor) : bound(selection.caller(), 0);
		String operation = (selection.label() != null) ? RecordRows.readable(selection.label()) : null;
		return SqlMove.query(
				Sql.of(this.dialect.alone().scan() + this.dialect.limit(count), after, bound(selection.caller(), 0xFF)),
				(row) -> Listed.read(row, operation), (rows) -> SqlMove.done(page(rows, count)));
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

	private static IdempotencyRecordPage page(List<Listed> rows, int count) {
		List<IdempotencyRecord> records = new ArrayList<>();
		for (Listed listed : rows) {
			StoredRow row = listed.row();
			if (row != null && row.record().isLive(row.moment())) {
				records.add(RecordView.of(listed.label(), listed.hash(), row.record(), row.moment()));
			}
		}
		return new IdempotencyRecordPage(records, (rows.size() < count) ? null : rows.get(rows.size() - 1).hash());
	}

	/**
	 * Deletes exactly the version of the record that was read, so that a call that claims
	 * the key at the same time keeps its claim.
	 */
	SqlMove<Eviction> evict(RecordKey key, boolean force) {
		byte[] hash = key.hashBytes();
		return RecordVerbs.rounds((round, again) -> this.dialect.findHead(hash, (found) -> {
			StoredRow row = found.orElse(null);
			if (row == null) {
				return SqlMove.done(Eviction.ABSENT);
			}
			Transition<Eviction> step = row.current().evict(force, row.moment());
			return (step.answer() != Eviction.EVICTED) ? SqlMove.done(step.answer())
					: SqlMove.update(Sql.of(this.dialect.alone().delete, RecordRows.unchanged(hash, row.record())),
							(deleted) -> (deleted == 1) ? SqlMove.done(step.answer()) : again.get());
		}));
	}

	/**
	 * One row of a page.
	 *
	 * @param hash the hash of the key
	 * @param label the operation
	 * @param row the record, {@code null} if it is one of another operation
	 */
	private record Listed(String hash, String label, @Nullable StoredRow row) {

		static Listed read(SqlMove.Row row, @Nullable String operation) {
			String label = String.valueOf(row.text(2));
			boolean asked = operation == null || operation.equals(label);
			return new Listed(HexFormat.of().formatHex(row.bytes(1)), label, asked ? RecordRows.read(row, 3) : null);
		}

	}

}
