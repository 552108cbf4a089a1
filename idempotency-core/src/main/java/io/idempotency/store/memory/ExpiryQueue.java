package io.idempotency.store.memory;

import org.jspecify.annotations.Nullable;

/**
 * The records that expire within the same few seconds, in the order of their last step.
 * That is the order of their expiry if they live equally long. Otherwise an expired
 * record may stand behind a live one, but not for longer than those seconds.
 * <p>
 * The queue ends with its last entry: from then on it takes no other.
 */
final class ExpiryQueue extends EntryQueue {

	/** A queue is for 2^22 microseconds, about four seconds. */
	private static final int MICROS_BITS = 22;

	private final Long number;

	private boolean ended;

	ExpiryQueue(Long number) {
		this.number = number;
	}

	/**
	 * Returns the number of the queue for an entry; queues that are due later have larger
	 * ones.
	 */
	static Long number(Entry entry) {
		return entry.expiresAt() >> MICROS_BITS;
	}

	Long number() {
		return this.number;
	}

	/** Adds an entry unless the queue has ended; returns whether the entry was added. */
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
