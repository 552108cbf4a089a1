package io.idempotency.store.memory;

import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.store.ResultKind;

import org.jspecify.annotations.Nullable;

/**
 * The orders in which records expire and make room for others. They change together with
 * a record, under the lock of its key. To look at the front needs no such lock.
 */
final class RemovalOrder {

	/** By the numbers of the queues, which none of them outlives empty. */
	private final ConcurrentSkipListMap<Long, ExpiryQueue> byExpiry = new ConcurrentSkipListMap<>();

	private final Map<ResultKind, CompletionQueue> byCompletion = new EnumMap<>(ResultKind.class);

	private final AtomicLong roomBytes = new AtomicLong();

	RemovalOrder() {
		for (ResultKind kind : ResultKind.values()) {
			this.byCompletion.put(kind, new CompletionQueue());
		}
	}

	/**
	 * Returns the record that expires first, give or take a few seconds; {@code null} if
	 * there is no record.
	 */
	@Nullable Entry firstToExpire() {
		for (ExpiryQueue queue : this.byExpiry.values()) {
			Entry first = queue.first();
			if (first != null) {
				return first;
			}
		}
		return null;
	}

	/**
	 * Returns the record of a kind that can make room and was completed first,
	 * {@code null} if there is none.
	 */
	@Nullable Entry firstCompleted(ResultKind kind) {
		return ofKind(kind).first();
	}

	private CompletionQueue ofKind(ResultKind kind) {
		return Objects.requireNonNull(this.byCompletion.get(kind));
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
		ExpiryQueue queue = Objects.requireNonNull(entry.expiryQueue);
		if (queue.endsWithout(entry)) {
			this.byExpiry.remove(queue.number(), queue);
		}
		ResultKind turn = entry.turn();
		if (turn != null) {
			ofKind(turn).remove(entry);
			this.roomBytes.addAndGet(-entry.roomBytes());
		}
	}

	private void add(Entry entry) {
		Long number = ExpiryQueue.number(entry);
		ExpiryQueue queue = this.byExpiry.computeIfAbsent(number, ExpiryQueue::new);
		while (!queue.takes(entry)) {
			// Whoever has emptied it has yet to take it out.
			this.byExpiry.remove(number, queue);
			queue = this.byExpiry.computeIfAbsent(number, ExpiryQueue::new);
		}
		ResultKind turn = entry.turn();
		if (turn != null) {
			ofKind(turn).add(entry);
			this.roomBytes.addAndGet(entry.roomBytes());
		}
	}

	/**
	 * Entries in the order in which they were added. An entry can be removed from
	 * anywhere at once, because the entries themselves are the links. So each kind of
	 * queue has its own pair of fields in an entry, and an entry is in one queue of each
	 * kind at most.
	 * <p>
	 * All threads share the queue and hold its lock for a few reads and writes.
	 */
	abstract static class EntryQueue {

		private @Nullable Entry first;

		private @Nullable Entry last;

		/**
		 * Returns the entry that was added before all others, {@code null} if none is
		 * left.
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

	/**
	 * The records that expire within the same few seconds, in the order of their last
	 * step. That is the order of their expiry if they live equally long. Otherwise an
	 * expired record may stand behind a live one, but not for longer than those seconds.
	 * <p>
	 * The queue ends with its last entry: from then on it takes no other.
	 */
	static final class ExpiryQueue extends EntryQueue {

		/** A queue is for 2^22 microseconds, about four seconds. */
		private static final int MICROS_BITS = 22;

		private final Long number;

		private boolean ended;

		ExpiryQueue(Long number) {
			this.number = number;
		}

		/**
		 * Returns the number of the queue for an entry; queues that are due later have
		 * larger ones.
		 */
		static Long number(Entry entry) {
			return entry.expiresAt() >> MICROS_BITS;
		}

		Long number() {
			return this.number;
		}

		/**
		 * Adds an entry unless the queue has ended; returns whether the entry was added.
		 */
		synchronized boolean takes(Entry entry) {
			if (!this.ended) {
				add(entry);
				entry.expiryQueue = this;
			}
			return !this.ended;
		}

		/** Removes an entry; returns whether the queue has ended with it. */
		synchronized boolean endsWithout(Entry entry) {
			remove(entry);
			this.ended = first() == null;
			return this.ended;
		}

		@Override
		@Nullable Entry previous(Entry entry) {
			return entry.expiresBefore;
		}

		@Override
		void setPrevious(Entry entry, @Nullable Entry previous) {
			entry.expiresBefore = previous;
		}

		@Override
		@Nullable Entry next(Entry entry) {
			return entry.expiresAfter;
		}

		@Override
		void setNext(Entry entry, @Nullable Entry next) {
			entry.expiresAfter = next;
		}

	}

	/**
	 * The records of one kind that can make room; the first to be completed comes first.
	 */
	static final class CompletionQueue extends EntryQueue {

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

}
