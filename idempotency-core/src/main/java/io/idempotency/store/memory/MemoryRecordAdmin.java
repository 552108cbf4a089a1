package io.idempotency.store.memory;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;

import io.idempotency.IdempotencyRecord;
import io.idempotency.IdempotencyRecordPage;
import io.idempotency.store.RecordAdmin;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import io.idempotency.store.record.Moment;
import io.idempotency.store.record.RecordId;
import io.idempotency.store.record.RecordView;

import org.jspecify.annotations.Nullable;

/**
 * Shows and removes records in the heap. The pages are in the order of the ids, which no
 * step of a record changes.
 */
final class MemoryRecordAdmin implements RecordAdmin {

	private final BoundedRecordTable records;

	MemoryRecordAdmin(BoundedRecordTable records) {
		this.records = records;
	}

	@Override
	public Optional<IdempotencyRecord> find(RecordKey key) {
		Moment moment = this.records.now();
		return Optional.ofNullable(this.records.entry(RecordId.parse(key.hash()), moment))
			.map((entry) -> view(entry, moment));
	}

	private static IdempotencyRecord view(Entry entry, Moment moment) {
		return RecordView.of(entry.operation(), entry.id().hash(), entry.record(), moment);
	}

	/**
	 * Returns up to {@code count} selected records. There is no order by id that could be
	 * entered at the cursor, and one would slow down every claim. So each page walks over
	 * all records and keeps only its own.
	 */
	@Override
	public IdempotencyRecordPage scan(RecordSelection selection, @Nullable String cursor, int count) {
		Moment moment = this.records.now();
		RecordId after = (cursor != null) ? RecordId.parse(cursor) : null;
		PriorityQueue<Entry> page = new PriorityQueue<>(Entry.BY_ID.reversed());
		boolean more = false;
		for (Entry entry : this.records.entries()) {
			if ((after == null || entry.isAfter(after)) && entry.isLive(moment) && isSelected(entry, selection)) {
				page.add(entry);
				if (page.size() > count) {
					page.remove();
					more = true;
				}
			}
		}
		List<Entry> entries = new ArrayList<>(page);
		entries.sort(Entry.BY_ID);
		return new IdempotencyRecordPage(entries.stream().map((entry) -> view(entry, moment)).toList(),
				more ? entries.get(entries.size() - 1).id().hash() : null);
	}

	private static boolean isSelected(Entry entry, RecordSelection selection) {
		return (selection.operation() == null || selection.operation().equals(entry.operation()))
				&& (selection.caller() == null || entry.id().hash().startsWith(selection.caller().toString()));
	}

	@Override
	public Eviction evict(RecordKey key, boolean force) {
		return this.records.update(RecordId.parse(key.hash()), key.label(),
				(record, moment) -> record.evict(force, moment));
	}

}
