package io.idempotency.engine;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wakes up the duplicates of one key, and lets one of them at a time poll the store. Some
 * of them wait on a thread, others without a thread. Uses a lock and not a monitor, so
 * that a waiting virtual thread does not pin its carrier.
 */
final class KeyCondition {

	private static final Logger logger = LoggerFactory.getLogger(KeyCondition.class);

	private static final long MAX_POLL_MILLIS = 500;

	private final Scheduler scheduler;

	private final long firstPollMillis;

	private final ReentrantLock lock = new ReentrantLock();

	/** Signalled when the wait of a thread may end, or end earlier. */
	private final Condition changed;

	private final AtomicLong signals = new AtomicLong();

	private final Set<Waiter> waiters = new LinkedHashSet<>();

	/** The waiter that polls the store next, {@code null} without such a waiter. */
	private @Nullable Waiter next;

	private long pollMillis;

	/** The number of waiting calls; only changed inside the map's atomic methods. */
	int calls;

	KeyCondition(Scheduler scheduler, long firstPollMillis) {
		this.scheduler = scheduler;
		this.firstPollMillis = firstPollMillis;
		this.pollMillis = firstPollMillis;
		this.changed = scheduler.condition(this.lock);
	}

	long signals() {
		return this.signals.get();
	}

	/**
	 * Wakes up all waiters, because the conflict ended. Polls at short intervals again.
	 */
	void signalAll() {
		List<Waiter> woken;
		this.lock.lock();
		try {
			this.signals.incrementAndGet();
			this.pollMillis = this.firstPollMillis;
			woken = List.copyOf(this.waiters);
			woken.forEach(Waiter::remove);
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
		woken.forEach(Waiter::callBack);
	}

	/** Lets the next waiter poll in place of a call that no longer waits. */
	void leave() {
		this.lock.lock();
		try {
			chooseNext();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void chooseNext() {
		if (this.next == null && !this.waiters.isEmpty()) {
			this.waiters.iterator().next().pollsNext();
			this.changed.signalAll();
		}
	}

	/**
	 * Waits on the calling thread for a signal after the given one, for the time to poll,
	 * or for the deadline.
	 * @return {@code false} if the thread was interrupted
	 */
	boolean await(long seen, NextStep.Wait wait) {
		Waiter waiter = new Waiter(wait, null);
		try {
			this.lock.lockInterruptibly();
			try {
				waiter.enter(seen);
				long rest = waiter.restNanos();
				while (this.waiters.contains(waiter) && rest > 0) {
					this.changed.awaitNanos(rest);
					rest = waiter.restNanos();
				}
				return true;
			}
			finally {
				waiter.remove();
				this.lock.unlock();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

	/** Waits without a thread, and calls back when {@link #await} would return. */
	Scheduler.Timer sleep(long seen, NextStep.Wait wait, Runnable woken) {
		Waiter waiter = new Waiter(wait, woken);
		this.lock.lock();
		try {
			if (waiter.enter(seen)) {
				return waiter;
			}
		}
		finally {
			this.lock.unlock();
		}
		woken.run();
		return waiter;
	}

	private long nextPoll(NextStep.Wait wait) {
		long now = this.scheduler.nanos();
		long poll = (long) (TimeUnit.MILLISECONDS.toNanos(this.pollMillis) * (0.75 + this.scheduler.random() / 2));
		this.pollMillis = Math.min(2 * this.pollMillis, MAX_POLL_MILLIS);
		return now + Math.min(poll, Math.min(wait.pollAt() - now, wait.deadline() - now));
	}

	/** One waiting call. Everything except its callback happens under the lock. */
	private final class Waiter implements Scheduler.Timer {

		private final NextStep.Wait wait;

		/** Called at the end of the wait, {@code null} if a thread waits. */
		private final @Nullable Runnable woken;

		private long until;

		private Scheduler.@Nullable Timer timer;

		Waiter(NextStep.Wait wait, @Nullable Runnable woken) {
			this.wait = wait;
			this.woken = woken;
			this.until = wait.deadline();
		}

		/** Begins to wait, unless there was a signal after the given one. */
		boolean enter(long seen) {
			if (KeyCondition.this.signals.get() != seen) {
				return false;
			}
			KeyCondition.this.waiters.add(this);
			if (KeyCondition.this.next == null) {
				pollsNext();
			}
			else {
				waitUntil(this.wait.deadline());
			}
			return true;
		}

		void pollsNext() {
			KeyCondition.this.next = this;
			waitUntil(nextPoll(this.wait));
		}

		private void waitUntil(long nanos) {
			this.until = nanos;
			if (this.woken != null) {
				stopTimer();
				Duration rest = Duration.ofNanos(Math.max(0, restNanos()));
				this.timer = KeyCondition.this.scheduler.schedule(this::wake, rest);
			}
		}

		long restNanos() {
			return this.until - KeyCondition.this.scheduler.nanos();
		}

		private void stopTimer() {
			if (this.timer != null) {
				this.timer.cancel();
			}
		}

		private void wake() {
			KeyCondition.this.lock.lock();
			try {
				if (!remove()) {
					return;
				}
			}
			finally {
				KeyCondition.this.lock.unlock();
			}
			callBack();
		}

		/** Returns whether this call waited until now. */
		boolean remove() {
			if (!KeyCondition.this.waiters.remove(this)) {
				return false;
			}
			stopTimer();
			if (KeyCondition.this.next == this) {
				KeyCondition.this.next = null;
			}
			return true;
		}

		void callBack() {
			if (this.woken != null) {
				EventPublisher.run(this.woken,
						(ex) -> logger.error("[IDEM-114] A waiting duplicate could not be resumed: it stays "
								+ "blocked until its client disconnects. Check that the executor accepts tasks and "
								+ "that the JVM has memory and threads.", ex));
			}
		}

		@Override
		public void cancel() {
			KeyCondition.this.lock.lock();
			try {
				if (remove()) {
					chooseNext();
				}
			}
			finally {
				KeyCondition.this.lock.unlock();
			}
		}

	}

}
