package io.idempotency.store.memory;

import org.jspecify.annotations.Nullable;

/**
 * Entries in the order in which they were added. An entry can be removed from anywhere at
 * once, because the entries themselves are the links. So each kind of queue has its own
 * pair of fields in an entry, and an entry is in one queue of each kind at most.
 * <p>
 * All threads share the queue and hold its lock for a few reads and writes.
 */
abstract class EntryQueue {

	private @Nullable Entry first;

	private @Nullable Entry last;

	/**
	 * Returns the entry that was added before all others, {@code null} if none is left.
	 */
	synchronized @Nullable Entry first() {
		return this.first;
	}

	synchronized void add(Entry entry) {
		setPrevious(entry, this.last);
		if (this.last == null) {
			this.first = entry;
		}
		else {
			setNext(this.last, entry);
		}
		this.last = entry;
	}

	/** Removes an entry of this queue. */
	synchronized void remove(Entry entry) {
		Entry previous = previous(entry);
		Entry next = next(entry);
		if (previous == null) {
			this.first = next;
		}
		else {
			setNext(previous, next);
			setPrevious(entry, null);
		}
		if (next == null) {
			this.last = previous;
		}
		else {
			setPrevious(next, previous);
			setNext(entry, null);
		}
	}

	abstract @Nullable Entry previous(Entry entry);

	abstract void setPrevious(Entry entry, @Nullable Entry previous);

	abstract @Nullable Entry next(Entry entry);

	abstract void setNext(Entry entry, @Nullable Entry next);

}
