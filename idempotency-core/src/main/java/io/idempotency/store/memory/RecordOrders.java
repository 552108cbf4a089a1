package io.idempotency.store.memory;

import java.util.NavigableSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * In which order records expire and results may be dropped. Changes with a record, under
 * the lock of its key; may be walked at any time without one, from the front.
 */
final class RecordOrders {

	private final NavigableSet<Entry> byExpiry = new ConcurrentSkipListSet<>(Entry.BY_EXPIRY);

	private final NavigableSet<Entry> resultsByAge = new ConcurrentSkipListSet<>(Entry.BY_AGE);

	private final AtomicLong resultBytes = new AtomicLong();

	/** Every record, the first to expire first. */
	Iterable<Entry> byExpiry() {
		return this.byExpiry;
	}

	/** Every record with a result, the first to be completed first. */
	Iterable<Entry> resultsByAge() {
		return this.resultsByAge;
	}

	/** What dropping every result would give. */
	long resultBytes() {
		return this.resultBytes.get();
	}

	void replace(@Nullable Entry before, @Nullable Entry after) {
		if (before != null) {
			remove(before);
		}
		if (after != null) {
			add(after);
		}
	}

	private void remove(Entry entry) {
		this.byExpiry.remove(entry);
		if (entry.hasResult()) {
			this.resultsByAge.remove(entry);
			this.resultBytes.addAndGet(-entry.resultBytes());
		}
	}

	private void add(Entry entry) {
		this.byExpiry.add(entry);
		if (entry.hasResult()) {
			this.resultsByAge.add(entry);
			this.resultBytes.addAndGet(entry.resultBytes());
		}
	}

}
