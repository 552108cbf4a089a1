package io.idempotency.engine;

import java.time.Duration;
import java.util.function.ToLongFunction;

import io.idempotency.Internal;

/**
 * The work of an engine at this moment, over all its stores. Thread-safe. Each number is
 * computed when a gauge reads it, and costs nothing until then.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class EngineLoad {

	private final StoreLines lines;

	private final ConflictWaiter waiter;

	EngineLoad(StoreLines lines, ConflictWaiter waiter) {
		this.lines = lines;
		this.waiter = waiter;
	}

	/**
	 * Returns the number of claims that are being renewed: those of running calls, and
	 * those whose completion is outstanding.
	 * @return the number, without claims that nobody renews
	 */
	public long runningClaims() {
		return sum((line) -> line.beats().running());
	}

	/**
	 * Returns the number of duplicates that wait for the end of a conflict.
	 * @return the number
	 */
	public int waiters() {
		return this.waiter.waiting();
	}

	/**
	 * Returns how many duplicates may wait at the same time.
	 * @return the number
	 */
	public int maxWaiters() {
		return this.waiter.places();
	}

	/**
	 * Returns the number of completions, releases and claims to give back that a store
	 * has not taken yet and that are repeated.
	 * @return the number
	 */
	public long outstandingWrites() {
		return sum((line) -> line.retries().outstanding());
	}

	/**
	 * Returns the size of the results of outstanding completions.
	 * @return the number of bytes
	 */
	public long outstandingBytes() {
		return sum((line) -> line.retries().resultBytes());
	}

	/**
	 * Returns how late the most overdue renewal of a claim is.
	 * @return the time since that renewal was due, zero if none is late
	 */
	public Duration latestBeat() {
		long late = 0;
		for (StoreLine line : this.lines.all()) {
			late = Math.max(late, line.beats().lateNanos());
		}
		return Duration.ofNanos(late);
	}

	private long sum(ToLongFunction<StoreLine> part) {
		return this.lines.all().stream().mapToLong(part).sum();
	}

}
