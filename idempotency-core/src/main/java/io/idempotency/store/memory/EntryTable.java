package io.idempotency.store.memory;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.UnaryOperator;

import io.idempotency.store.RecordId;

import org.jspecify.annotations.Nullable;

/**
 * The entries by the ids of their records. The chains of this hash table are made of the
 * entries themselves; a map of the JDK has two more objects for each of them.
 * <p>
 * The table consists of segments with a lock each. Thread-safe.
 */
final class EntryTable implements Iterable<Entry> {

	/** 2^6 segments. */
	private static final int SEGMENT_BITS = 6;

	private final List<Segment> segments;

	/** So that no caller can choose keys that share a chain. */
	private final long secret = new SecureRandom().nextLong() | 1;

	EntryTable() {
		List<Segment> all = new ArrayList<>();
		for (int i = 0; i < 1 << SEGMENT_BITS; i++) {
			all.add(new Segment());
		}
		this.segments = List.copyOf(all);
	}

	private Segment segment(RecordId id) {
		return this.segments.get((int) (id.fourth() * this.secret >>> Long.SIZE - SEGMENT_BITS));
	}

	@Nullable Entry get(RecordId id) {
		return segment(id).get(id);
	}

	/**
	 * Replaces the entry of an id under the lock of its segment.
	 * @param step gets the entry, {@code null} for none, and gives the next one; it must
	 * not use the table
	 */
	void compute(RecordId id, UnaryOperator<@Nullable Entry> step) {
		segment(id).compute(id, step);
	}

	int size() {
		return this.segments.stream().mapToInt((segment) -> segment.size).sum();
	}

	/** Returns all entries in no order, while others come and go. */
	@Override
	public Iterator<Entry> iterator() {
		Iterator<Segment> rest = this.segments.iterator();
		return new Iterator<>() {

			private Iterator<Entry> here = Collections.emptyIterator();

			@Override
			public boolean hasNext() {
				while (!this.here.hasNext() && rest.hasNext()) {
					this.here = rest.next().copy().iterator();
				}
				return this.here.hasNext();
			}

			@Override
			public Entry next() {
				if (!hasNext()) {
					throw new NoSuchElementException();
				}
				return this.here.next();
			}

		};
	}

	/**
	 * A part of the table.
	 */
	private final class Segment {

		private static final int LEAST_CHAINS = 8;

		private @Nullable Entry[] chains = new Entry[LEAST_CHAINS];

		private volatile int size;

		private int chain(long spread) {
			return (int) (spread * EntryTable.this.secret >>> Integer.SIZE) & this.chains.length - 1;
		}

		synchronized @Nullable Entry get(RecordId id) {
			Entry entry = this.chains[chain(id.fourth())];
			while (entry != null && !entry.isOf(id)) {
				entry = entry.next;
			}
			return entry;
		}

		synchronized void compute(RecordId id, UnaryOperator<@Nullable Entry> step) {
			Entry before = get(id);
			Entry after = step.apply(before);
			if (after == before) {
				return;
			}
			int count = this.size;
			if (before != null) {
				remove(before);
				count--;
			}
			if (after != null) {
				add(after);
				count++;
			}
			this.size = count;
			if (count > this.chains.length) {
				grow();
			}
		}

		private void remove(Entry entry) {
			int chain = chain(entry.spread());
			Entry before = this.chains[chain];
			if (before == entry) {
				this.chains[chain] = entry.next;
			}
			else {
				while (before != null && before.next != entry) {
					before = before.next;
				}
				if (before != null) {
					before.next = entry.next;
				}
			}
			entry.next = null;
		}

		private void add(Entry entry) {
			int chain = chain(entry.spread());
			entry.next = this.chains[chain];
			this.chains[chain] = entry;
		}

		private void grow() {
			List<Entry> all = copy();
			this.chains = new Entry[2 * this.chains.length];
			all.forEach(this::add);
		}

		synchronized List<Entry> copy() {
			List<Entry> all = new ArrayList<>(this.size);
			Arrays.stream(this.chains).forEach((first) -> {
				for (Entry entry = first; entry != null; entry = entry.next) {
					all.add(entry);
				}
			});
			return all;
		}

	}

}
