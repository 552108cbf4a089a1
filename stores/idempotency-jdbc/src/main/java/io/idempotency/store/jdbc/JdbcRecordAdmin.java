package io.idempotency.store.jdbc;

import java.util.Optional;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.record.RecordId;
import io.idempotency.store.sql.RowAdmin;

import org.jspecify.annotations.Nullable;

/**
 * Shows and removes rows of the table. The pages are in the order of the primary key, so
 * a page is a range of it.
 */
final class JdbcRecordAdmin implements RecordAdmin {

	private final OwnSessionSource sessions;

	JdbcRecordAdmin(OwnSessionSource sessions) {
		this.sessions = sessions;
	}

	@Override
	public Optional<IdempotencyRecord> find(RecordKey key) {
		try (SqlSession session = this.sessions.open("find")) {
			return session.run(() -> session.run(new RowAdmin(session.dialect()).find(key)));
		}
	}

	/**
	 * {@inheritDoc}
	 * <p>
	 * Reads {@code count} rows, by one statement, and none of their results. The rows of
	 * a caller lie together; those of an operation do not, so the rows of other
	 * operations are read, too.
	 */
	@Override
	public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
		if (cursor != null) {
			// A cursor comes from outside.
			RecordId.parse(cursor);
		}
		try (SqlSession session = this.sessions.open("scan")) {
			return session.run(() -> session.run(new RowAdmin(session.dialect()).scan(selection, cursor, count)));
		}
	}

	@Override
	public Eviction evict(RecordKey key, boolean force) {
		try (SqlSession session = this.sessions.open("evict")) {
			return session.run(() -> session.run(new RowAdmin(session.dialect()).evict(key, force)));
		}
	}

}
