package io.idempotency.reactor;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Scheduler;
import io.idempotency.upkeep.ConflictWaiter;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * The keys whose records are in open transactions of this node, and how many of those are
 * late to begin. The database would let another call of such a key wait for that
 * transaction, with a connection of the application; here it waits without one.
 * Thread-safe.
 */
final class JoinedKeys {

	/**
	 * More transactions are not begun while so many are late: none would come in time.
	 */
	static final int MAX_LATE = 256;

	/** The transactions that nobody waits for any more, and that may yet begin. */
	private final AtomicInteger late = new AtomicInteger();

	/** When a transaction was late, or was begun all the same, the last time. */
	private final AtomicLong lastLate = new AtomicLong();

	private final ConcurrentHashMap<IdempotencyKey, Sinks.Empty<Void>> taken = new ConcurrentHashMap<>();

	private final Set<Limit> limits = ConcurrentHashMap.newKeySet();

	private final ConflictWaiter waiter;

	/**
	 * Creates it for one engine.
	 * @param waiter knows when the waits of the engine are over
	 */
	JoinedKeys(ConflictWaiter waiter) {
		this.waiter = waiter;
		waiter.endsWith(() -> this.limits.forEach(Limit::run));
	}

	/**
	 * Takes a key for a transaction.
	 * @param own wakes up all that wait for the key
	 * @return {@code null} if the key is taken now, to be {@linkplain #free freed} when
	 * the transaction has ended; else completes when it is worth another try
	 */
	@Nullable Mono<Void> take(IdempotencyKey key, Sinks.Empty<Void> own) {
		Sinks.Empty<Void> other = this.taken.putIfAbsent(key, own);
		return (other != null) ? other.asMono() : null;
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

	/** Returns whether no call waits for another one any more. */
	boolean isOver() {
		return this.waiter.isOver();
	}

	/** Frees a key, unless that was done before: another call may have it by now. */
	void free(IdempotencyKey key, Sinks.Empty<Void> own) {
		this.taken.remove(key, own);
		own.tryEmitEmpty();
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
			if (JoinedKeys.this.limits.remove(this)) {
				this.ends.run();
			}
		}

		@Override
		public void cancel() {
			JoinedKeys.this.limits.remove(this);
			this.timer.cancel();
		}

	}

}
