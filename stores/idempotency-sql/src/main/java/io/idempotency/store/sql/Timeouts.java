package io.idempotency.store.sql;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.idempotency.Internal;

/**
 * The bounds on the time of calls.
 *
 * @param waiting how long a claim waits for another transaction that has claimed the key
 * @param call how long one call waits for the database
 * @hidden
 */
@Internal
public record Timeouts(Duration waiting, Duration call) {

	/** A batch of a purge may take longer, because no caller waits for it. */
	public static final Duration PURGE = Duration.ofMinutes(1);

	/** Nodes that start together wait for each other, so start-up may take longer. */
	public static final Duration START = Duration.ofMinutes(5);

	/** Those of a store that was given none. */
	public static final Timeouts DEFAULT = new Timeouts(Duration.ofSeconds(5), Duration.ofSeconds(2));

	/**
	 * Checks the bounds.
	 */
	public Timeouts {
		requireAMilli("waitTimeout", waiting);
		requireAMilli("storeTimeout", call);
	}

	private static void requireAMilli(String name, Duration duration) {
		if (duration.toMillis() < 1) {
			throw new IllegalArgumentException(name + " must be at least a millisecond, not " + duration);
		}
	}

	/**
	 * Returns a bound that ends before the call does: the bound itself, or as often
	 * halved as needed, so that few different statements have to be prepared.
	 * @param bound the bound of a call that has all its time
	 * @param left how long the call may still take, in nanoseconds
	 */
	static Duration within(Duration bound, long left) {
		Duration most = Duration.ofNanos(left / 7 * 6);
		Duration within = bound;
		while (within.compareTo(most) > 0 && within.toMillis() > 1) {
			within = within.dividedBy(2);
		}
		return within;
	}

	/**
	 * Returns how long a statement waits for a lock: less than a call may take, so that
	 * the database ends the wait before the network time-out cuts the connection. So no
	 * connection is lost, and no statement stays behind in the database that could be
	 * applied later. A call that has less time left than that waits {@link #within} it.
	 */
	public Duration lock() {
		// Durations multiply with big decimals, and each verb asks.
		return Duration.ofNanos(TimeUnit.NANOSECONDS.convert(this.call) / 4 * 3);
	}

	/**
	 * Returns how long a claim on a connection of its own waits for the lock of the key.
	 */
	public Duration claim() {
		return (this.waiting.compareTo(lock()) < 0) ? this.waiting : lock();
	}

}
