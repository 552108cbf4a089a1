package io.idempotency.store.memory;

import java.util.EnumMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.store.ResultKind;

import org.jspecify.annotations.Nullable;

/**
 * The orders in which records expire and make room for others. They change together with
 * a record, under the lock of its key. A walk from the front needs no lock and is
 * possible at any time.
 */
final class RecordOrders {

	private final NavigableSet<Entry> byExpiry = new ConcurrentSkipListSet<>(Entry.BY_EXPIRY);

	private final Map<ResultKind, NavigableSet<Entry>> byAge = new EnumMap<>(ResultKind.class);

	private final AtomicLong roomBytes = new AtomicLong();

	RecordOrders() {
		for (ResultKind kind : ResultKind.values()) {
			this.byAge.put(kind, new ConcurrentSkipListSet<>(Entry.BY_AGE));
		}
	}

	/** Returns every record; the first to expire comes first. */
	Iterable<Entry> byExpiry() {
		return this.byExpiry;
	}

	/**
	 * Returns every record of a kind that can make room; the first to be completed comes
	 * first.
	 */
	Iterable<Entry> byAge(ResultKind kind) {
		return ofKind(kind);
	}

	private NavigableSet<Entry> ofKind(ResultKind kind) {
		return Objects.requireNonNull(this.byAge.get(kind));
	}

	/** Returns how many bytes all records together can free. */
	long roomBytes() {
		return this.roomBytes.get();
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
		ResultKind turn = entry.turn();
		if (turn != null) {
			ofKind(turn).remove(entry);
			this.roomBytes.addAndGet(-entry.roomBytes());
		}
	}

	private void add(Entry entry) {
		this.byExpiry.add(entry);
		ResultKind turn = entry.turn();
		if (turn != null) {
			ofKind(turn).add(entry);
			this.roomBytes.addAndGet(entry.roomBytes());
		}
	}

}
