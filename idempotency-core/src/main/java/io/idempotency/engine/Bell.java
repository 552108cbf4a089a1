package io.idempotency.engine;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.idempotency.engine.Admission.Move;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Wakes up the duplicates of one key, and gives one of them after the other the turn to
 * ask the store. It uses a lock and not a monitor, so that a waiting virtual thread does
 * not pin its carrier.
 */
final class Bell {

	private static final Logger logger = LoggerFactory.getLogger(Bell.class);

	private static final long MAX_POLL_MILLIS = 500;

	private final Scheduler scheduler;

	private final long firstPollMillis;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition rings;

	private long rung;

	private long pollMillis;

	/** Whether one of those that wait will ask the store next. */
	private boolean turnTaken;

	/** Those that wait without a thread. */
	private final Set<Sleeper> sleepers = new LinkedHashSet<>();

	/** The number of waiters; only changed inside the map's atomic methods. */
	int listeners;

	Bell(Scheduler scheduler, long firstPollMillis) {
		this.scheduler = scheduler;
		this.firstPollMillis = firstPollMillis;
		this.pollMillis = firstPollMillis;
		this.rings = scheduler.condition(this.lock);
	}

	long rung() {
		this.lock.lock();
		try {
			return this.rung;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Tells all that the conflict has ended. The next one may be short again. */
	void ring() {
		List<Sleeper> woken;
		this.lock.lock();
		try {
			this.rung++;
			this.pollMillis = this.firstPollMillis;
			this.rings.signalAll();
			woken = List.copyOf(this.sleepers);
			woken.forEach(Sleeper::getUp);
		}
		finally {
			this.lock.unlock();
		}
		callBack(woken);
	}

	/** No callback keeps the others from theirs, or whoever rings from its work. */
	private static void callBack(List<Sleeper> woken) {
		Throwable failure = null;
		for (Sleeper sleeper : woken) {
			try {
				sleeper.woken.run();
			}
			catch (Throwable ex) {
				failure = ex;
			}
		}
		Throwable last = failure;
		if (last != null) {
			EventLog.write(() -> logger.error("A call that waits for another one could not be woken up", last));
		}
	}

	/** Offers the turn of a waiter that leaves to the others. */
	void leave() {
		this.lock.lock();
		try {
			offerTurn();
		}
		finally {
			this.lock.unlock();
		}
	}

	private void offerTurn() {
		if (this.turnTaken) {
			return;
		}
		if (this.sleepers.isEmpty()) {
			this.rings.signal();
		}
		else {
			this.sleepers.iterator().next().takeTurn();
		}
	}

	/** Calls back where {@link #await} would return. */
	Scheduler.Timer sleep(long seen, Move.Wait wait, Runnable woken) {
		Sleeper sleeper = new Sleeper(this, wait, woken);
		this.lock.lock();
		try {
			if (this.rung == seen) {
				this.sleepers.add(sleeper);
				if (this.turnTaken) {
					sleeper.wakeAt(wait.deadline());
				}
				else {
					sleeper.takeTurn();
				}
				return sleeper;
			}
		}
		finally {
			this.lock.unlock();
		}
		woken.run();
		return sleeper;
	}

	/**
	 * Waits for a ring after the given one, for the time to ask the store if it is this
	 * waiter's turn, or for the deadline.
	 * @return {@code false} if the thread was interrupted
	 */
	boolean await(long seen, long lease, long deadline) {
		try {
			this.lock.lockInterruptibly();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		boolean turn = false;
		try {
			long until = deadline;
			while (this.rung == seen) {
				if (!turn && !this.turnTaken) {
					turn = true;
					this.turnTaken = true;
					until = nextPoll(lease, deadline);
				}
				long rest = until - this.scheduler.nanos();
				if (rest <= 0) {
					return true;
				}
				this.rings.awaitNanos(rest);
			}
			return true;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
		finally {
			this.turnTaken &= !turn;
			this.lock.unlock();
		}
	}

	private long nextPoll(long lease, long deadline) {
		long now = this.scheduler.nanos();
		long poll = jittered(this.pollMillis);
		this.pollMillis = Math.min(2 * this.pollMillis, MAX_POLL_MILLIS);
		return now + Math.min(poll, Math.min(lease - now, deadline - now));
	}

	private long jittered(long millis) {
		return (long) (TimeUnit.MILLISECONDS.toNanos(millis) * (0.75 + this.scheduler.random() / 2));
	}

	/** One that waits without a thread. All but its callback is done under the lock. */
	private static final class Sleeper implements Scheduler.Timer {

		private final Bell bell;

		private final Move.Wait wait;

		private final Runnable woken;

		private boolean turn;

		private Scheduler.@Nullable Timer timer;

		Sleeper(Bell bell, Move.Wait wait, Runnable woken) {
			this.bell = bell;
			this.wait = wait;
			this.woken = woken;
		}

		void takeTurn() {
			this.turn = true;
			this.bell.turnTaken = true;
			wakeAt(this.bell.nextPoll(this.wait.pollAt(), this.wait.deadline()));
		}

		void wakeAt(long nanos) {
			stopTimer();
			long rest = Math.max(0, nanos - this.bell.scheduler.nanos());
			this.timer = this.bell.scheduler.schedule(this::wake, Duration.ofNanos(rest));
		}

		private void stopTimer() {
			if (this.timer != null) {
				this.timer.cancel();
			}
		}

		private void wake() {
			this.bell.lock.lock();
			try {
				if (!getUp()) {
					return;
				}
			}
			finally {
				this.bell.lock.unlock();
			}
			this.woken.run();
		}

		/** Returns whether it has slept until now. */
		boolean getUp() {
			if (!this.bell.sleepers.remove(this)) {
				return false;
			}
			stopTimer();
			this.bell.turnTaken &= !this.turn;
			return true;
		}

		@Override
		public void cancel() {
			this.bell.lock.lock();
			try {
				if (getUp()) {
					this.bell.offerTurn();
				}
			}
			finally {
				this.bell.lock.unlock();
			}
		}

	}

}
