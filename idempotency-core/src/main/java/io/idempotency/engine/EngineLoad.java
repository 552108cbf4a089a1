package io.idempotency.engine;

import java.time.Duration;
import java.util.function.ToLongFunction;

import io.idempotency.Internal;

/**
 * The work of an engine at this moment, over all its stores. Thread-safe. Each number is
 * computed when a gauge reads it, and costs nothing until then.
 *
 * @hidden
 */
@Internal
public final class EngineLoad {

	private final Upkeep upkeep;

	EngineLoad(Upkeep upkeep) {
		this.upkeep = upkeep;
	}

	/**
	 * Returns the number of claims that are being renewed: those of running calls, and
	 * those whose completion is outstanding.
	 * @return the number, without claims that nobody renews
	 */
	public long runningClaims() {
		return sum((store) -> store.renewer().running());
	}

	/** Returns the number of duplicates that wait for the end of a conflict. */
	public int waiters() {
		return this.upkeep.waiter().waiting();
	}

	/** Returns how many duplicates may wait at the same time. */
	public int maxWaiters() {
		return this.upkeep.waiter().places();
	}

	/** Returns the number of calls whose work goes on though their caller is gone. */
	public int unattended() {
		return this.upkeep.unattended().get();
	}

	/**
	 * Returns the number of completions, releases and claims to give back that a store
	 * has not taken yet and that are repeated.
	 */
	public long outstandingWrites() {
		return sum((store) -> store.repeater().outstanding());
	}

	/** Returns the size of the results of outstanding completions. */
	public long outstandingBytes() {
		return sum((store) -> store.repeater().resultBytes());
	}

	/**
	 * Returns how late the most overdue renewal of a claim is.
	 * @return the time since that renewal was due, zero if none is late
	 */
	public Duration latestBeat() {
		long late = 0;
		for (StoreUpkeep store : this.upkeep.all()) {
			late = Math.max(late, store.renewer().lateNanos());
		}
		return Duration.ofNanos(late);
	}

	private long sum(ToLongFunction<StoreUpkeep> part) {
		return this.upkeep.all().stream().mapToLong(part).sum();
	}

}
