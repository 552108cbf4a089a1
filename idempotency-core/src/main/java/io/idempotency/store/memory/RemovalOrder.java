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

}
