package io.idempotency.store.jdbc;

import java.time.Duration;

/**
 * How long a call may take.
 *
 * @param waiting how long a claim waits for another transaction that has claimed the key
 * @param call how long one call waits for the database
 */
record Timeouts(Duration waiting, Duration call) {

	/** A batch of a purge is no call that anybody waits for. */
	static final Duration PURGE = Duration.ofMinutes(1);

	/** Nodes that start together wait for each other. */
	static final Duration START = Duration.ofMinutes(5);

	Timeouts {
		requireAMilli("waitTimeout", waiting);
		requireAMilli("storeTimeout", call);
	}

	private static void requireAMilli(String name, Duration duration) {
		if (duration.toMillis() < 1) {
			throw new IllegalArgumentException(name + " must be at least a millisecond, not " + duration);
		}
	}

	/**
	 * How long a statement waits for a lock. The database must say so before the line is
	 * cut: that costs no connection, and leaves no statement behind that is applied when
	 * nobody expects it.
	 */
	Duration lock() {
		return this.call.multipliedBy(3).dividedBy(4);
	}

	/** How long a claim on a connection of its own waits for the lock of the key. */
	Duration claim() {
		return (this.waiting.compareTo(lock()) < 0) ? this.waiting : lock();
	}

}
