package io.idempotency.store.memory;

import java.util.concurrent.atomic.AtomicLong;

/**
 * Counts the bytes that the records take, and knows how many they may take.
 */
final class Budget {

	private final long max;

	private final AtomicLong used = new AtomicLong();

	Budget(long max) {
		this.max = max;
	}

	long max() {
		return this.max;
	}

	long used() {
		return this.used.get();
	}

	long left() {
		return this.max - this.used.get();
	}

	/**
	 * Takes or gives back the bytes, even beyond the maximum.
	 */
	void add(long bytes) {
		this.used.addAndGet(bytes);
	}

	/**
	 * Takes the bytes if there is room for them; a negative number is always given back.
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

}
