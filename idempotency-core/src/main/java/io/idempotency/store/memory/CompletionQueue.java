package io.idempotency.store.memory;

import org.jspecify.annotations.Nullable;

/**
 * The records of one kind that can make room; the first to be completed comes first.
 */
final class CompletionQueue extends EntryQueue {

	@Override
	@Nullable Entry previous(Entry entry) {
		return entry.completedBefore;
	}

	@Override
	void setPrevious(Entry entry, @Nullable Entry previous) {
		entry.completedBefore = previous;
	}

	@Override
	@Nullable Entry next(Entry entry) {
		return entry.completedAfter;
	}

	@Override
	void setNext(Entry entry, @Nullable Entry next) {
		entry.completedAfter = next;
	}

}
