package io.idempotency.store.nearcache;

import java.util.Optional;
import java.util.function.Consumer;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.record.RecordId;
import org.jspecify.annotations.Nullable;

/**
 * Passes everything on to the store, and drops the results whose records are gone.
 */
final class NearRecordAdmin implements RecordAdmin {

	private final RecordAdmin store;

	private final Consumer<RecordId> dropped;

	NearRecordAdmin(RecordAdmin store, Consumer<RecordId> dropped) {
		this.store = store;
		this.dropped = dropped;
	}

	@Override
	public Optional<IdempotencyRecord> find(RecordKey key) {
		return this.store.find(key);
	}

	@Override
	public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
		return this.store.scan(selection, cursor, count);
	}

	/**
	 * Removes the record first and drops the result then. In the other order, a claim
	 * could fetch the result again in between.
	 */
	@Override
	public Eviction evict(RecordKey key, boolean force) {
		Eviction eviction = this.store.evict(key, force);
		if (eviction != Eviction.RUNNING) {
			this.dropped.accept(RecordId.parse(key.hash()));
		}
		return eviction;
	}

}
