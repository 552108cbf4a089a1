package io.idempotency.reactor;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.store.Scheduler;
import io.idempotency.engine.ConflictWaiter;
import reactor.core.scheduler.Schedulers;

/**
 * Limits how long a step of a transaction is waited for, and how many transactions may be
 * late to begin. Thread-safe.
 */
final class StepLimits {

	/**
	 * More transactions are not begun while so many are late: none would come in time.
	 */
	static final int MAX_LATE = 256;

	/** The transactions that nobody waits for any more, and that may yet begin. */
	private final AtomicInteger late = new AtomicInteger();

	/** When a transaction was late, or was begun all the same, the last time. */
	private final AtomicLong lastLate = new AtomicLong();

	private final Set<Limit> limits = ConcurrentHashMap.newKeySet();

	private final ConflictWaiter waiter;

	/**
	 * Creates it for one engine.
	 * @param waiter knows when the waits of the engine are over
	 */
	StepLimits(ConflictWaiter waiter) {
		this.waiter = waiter;
		waiter.endsWith(() -> this.limits.forEach(Limit::run));
	}

	/**
	 * Returns whether a transaction may be begun. While too many are late, one may after
	 * each time-out: a pool may have lost them, and would then tell no more of them.
	 */
	boolean mayBegin(long now, Duration timeout) {
		long last = this.lastLate.get();
		return this.late.get() < MAX_LATE
				|| (now - last >= timeout.toNanos() && this.lastLate.compareAndSet(last, now));
	}

	void isLate(long now) {
		this.lastLate.set(now);
		this.late.incrementAndGet();
	}

	/** Notes that one begins in time, so whatever is late keeps none back. */
	void isInTime() {
		if (this.late.get() != 0) {
			this.late.set(0);
		}
	}

	/** Notes the end of one that was late, which may be forgotten by now. */
	void isLateNoMore() {
		this.late.updateAndGet((count) -> Math.max(0, count - 1));
	}

	/**
	 * Limits a wait.
	 * @param ends ends it, which it may have before. It must neither block nor throw. The
	 * close of the engine does so at once, because the timers may end at any time then;
	 * what begins after that has a timer of Reactor
	 * @return cancels the limit
	 */
	Scheduler.Timer limit(Scheduler scheduler, Runnable ends, Duration after) {
		Limit limit = new Limit(ends);
		this.limits.add(limit);
		try {
			limit.timer = this.waiter.isOver()
					? Schedulers.parallel().schedule(limit, after.toMillis(), TimeUnit.MILLISECONDS)::dispose
					: scheduler.schedule(limit, after);
		}
		catch (Throwable refusal) {
			limit.cancel();
			throw refusal;
		}
		return limit;
	}

	/** The end of a wait, by a timer or before. */
	private final class Limit implements Runnable, Scheduler.Timer {

		private final Runnable ends;

		private volatile Scheduler.Timer timer = () -> {
		};

		Limit(Runnable ends) {
			this.ends = ends;
		}

		@Override
		public void run() {
			if (StepLimits.this.limits.remove(this)) {
				this.ends.run();
			}
		}

		@Override
		public void cancel() {
			StepLimits.this.limits.remove(this);
			this.timer.cancel();
		}

	}

}
