package io.idempotency.store.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that the records take, and how many of them are results that may be dropped.
 */
final class Budget {

	private final long max;

	private final AtomicLong used = new AtomicLong();

	private final AtomicLong droppable = new AtomicLong();

	Budget(long max) {
		this.max = max;
	}

	long max() {
		return this.max;
	}

	long used() {
		return this.used.get();
	}

	/**
	 * Takes the bytes if there is room for them; fewer than none are always given back.
	 */
	boolean take(long bytes) {
		long before = this.used.get();
		while (bytes <= 0 || bytes <= this.max - before) {
			if (this.used.compareAndSet(before, before + bytes)) {
				return true;
			}
			before = this.used.get();
		}
		return false;
	}

	void addDroppable(long bytes) {
		this.droppable.addAndGet(bytes);
	}

	boolean hasRoomFor(long bytes) {
		return bytes <= this.max - this.used.get();
	}

	/**
	 * Whether there would be room if every result were dropped.
	 */
	boolean couldHaveRoomFor(long bytes) {
		return bytes <= this.max - this.used.get() + this.droppable.get();
	}

}
