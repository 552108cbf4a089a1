package io.idempotency.store.sql;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.key.CallerId;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordId;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.RecordView;
import io.idempotency.store.StoredRecord.Transition;
import io.idempotency.store.sql.RecordRowMapper.StoredRow;
import io.idempotency.store.sql.SqlStep.Sql;

import org.jspecify.annotations.Nullable;

/**
 * Finds, lists and removes rows for operators.
 */
final class RowAdmin implements RecordAdmin {

	private static final int HASH_LENGTH = 32;

	private final RecordOperations.Connections connections;

	RowAdmin(RecordOperations.Connections connections) {
		this.connections = connections;
	}

	@Override
	public Optional<IdempotencyRecord> find(RecordKey key) {
		return this.connections.run("find", (verbs) -> verbs.dialect()
			.findHead(key.hashBytes(), (found) -> SqlStep.done(found.filter((row) -> row.record().isLive(row.moment()))
				.map((row) -> RecordView.of(key.label(), key.hash(), row.record(), row.moment())))));
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * Reads {@code count} rows, by one statement, and none of their results. The rows of
	 * a caller are adjacent. The rows of an operation are not, so the rows of other
	 * operations are read, too.
	 */
	@Override
	public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
		if (cursor != null) {
			// A cursor is external input.
			RecordId.parse(cursor);
		}
		byte[] after = (cursor != null) ? HexFormat.of().parseHex(cursor) : bound(selection.caller(), 0);
		String operation = (selection.label() != null) ? RecordRowMapper.readable(selection.label()) : null;
		return this.connections.run("scan",
				(verbs) -> SqlStep.query(
						Sql.of(verbs.dialect().alone().scan() + verbs.dialect().limit(count), after,
								bound(selection.caller(), 0xFF)),
						(row) -> Listed.read(row, operation), (rows) -> SqlStep.done(page(rows, count))));
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
	@Override
	public Eviction evict(RecordKey key, boolean force) {
		return this.connections.run("evict", (verbs) -> evict(verbs.dialect(), key.hashBytes(), force));
	}

	private static SqlStep<Eviction> evict(Dialect dialect, byte[] hash, boolean force) {
		return RecordOperations.rounds((round, again) -> dialect.findHead(hash, (found) -> {
			StoredRow row = found.orElse(null);
			if (row == null) {
				return SqlStep.done(Eviction.ABSENT);
			}
			Transition<Eviction> step = row.current().evict(force, row.moment());
			return (step.answer() != Eviction.EVICTED) ? SqlStep.done(step.answer())
					: SqlStep.update(Sql.of(dialect.alone().delete, RecordRowMapper.unchanged(hash, row.record())),
							(deleted) -> (deleted == 1) ? SqlStep.done(step.answer()) : again.get());
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

		static Listed read(SqlStep.Row row, @Nullable String operation) {
			String label = String.valueOf(row.text(2));
			boolean asked = operation == null || operation.equals(label);
			return new Listed(HexFormat.of().formatHex(row.bytes(1)), label,
					asked ? RecordRowMapper.read(row, 3) : null);
		}

	}

}
