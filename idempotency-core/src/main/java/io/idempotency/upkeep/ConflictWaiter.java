package io.idempotency.upkeep;

import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;

import io.idempotency.Internal;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.protocol.Admission;
import io.idempotency.protocol.Move;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits until a conflict ends, for a limited time. An owner on this node wakes up its
 * waiters. The poll is for owners on other nodes and for owners that die. The waiters of
 * one key share it: one of them asks the store, however many they are, and wakes up the
 * others when the conflict has ended. A duplicate never waits inside a call of the store.
 * <p>
 * A caller that blocks lets {@link #await} wait. A caller that holds no thread
 * {@linkplain #enter enters} and is called back. Both stand in one row. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class ConflictWaiter {

	private static final Logger logger = LoggerFactory.getLogger("io.idempotency.engine.IdempotencyEngine");

	private static final long FIRST_POLL_MILLIS = 20;

	private static final long MAX_POLL_MILLIS = 500;

	private final int maxWaiters;

	private final Semaphore places;

	private final Scheduler scheduler;

	private final long firstPollMillis;

	private final ConcurrentHashMap<IdempotencyKey, Bell> bells = new ConcurrentHashMap<>();

	ConflictWaiter(int maxWaiters, Scheduler scheduler) {
		this(maxWaiters, scheduler, FIRST_POLL_MILLIS);
	}

	public ConflictWaiter(int maxWaiters, Scheduler scheduler, long firstPollMillis) {
		this.maxWaiters = maxWaiters;
		this.places = new Semaphore(maxWaiters);
		this.scheduler = scheduler;
		this.firstPollMillis = firstPollMillis;
	}

	/**
	 * Sends the claim again and again until the conflict ends or the wait is over.
	 * @param admission decides, and wants to wait
	 * @param send sends the claim to the store
	 * @return what comes next. If too many duplicates wait already or the thread was
	 * interrupted (its interrupt flag is kept), that is the answer of the store before
	 */
	public Move await(Admission admission, Function<Move.Send, Move> send) {
		Place place = enter(admission);
		if (place == null) {
			return admission.notWaiting();
		}
		Move move = place.ask();
		try {
			while (true) {
				if (move instanceof Move.Send claim) {
					move = send.apply(claim);
				}
				else if (move instanceof Move.Wait wait) {
					move = place.await(wait) ? place.ask() : admission.notWaiting();
				}
				else {
					return move;
				}
			}
		}
		finally {
			place.leave(move);
		}
	}

	/**
	 * Takes a place among those that wait. Its first claim comes at once: the owner may
	 * have ended before anybody could wake this call up.
	 * @param admission decides, and wants to wait
	 * @return the place, {@code null} if too many duplicates wait already
	 */
	public @Nullable Place enter(Admission admission) {
		if (!this.places.tryAcquire()) {
			return null;
		}
		return new Place(admission, register(admission.request().key()));
	}

	private long jittered(long millis) {
		return (long) (TimeUnit.MILLISECONDS.toNanos(millis) * (0.75 + this.scheduler.random() / 2));
	}

	/** Wakes up all duplicates that wait for a key on this node. */
	public void wakeUp(IdempotencyKey key) {
		Bell bell = this.bells.get(key);
		if (bell != null) {
			bell.ring();
		}
	}

	/** Returns the number of duplicates that wait. */
	public int waiting() {
		return this.maxWaiters - this.places.availablePermits();
	}

	/** Returns how many duplicates may wait at the same time. */
	public int places() {
		return this.maxWaiters;
	}

	/** Returns the number of keys for which duplicates wait. */
	int waitedFor() {
		return this.bells.size();
	}

	private Bell register(IdempotencyKey key) {
		return this.bells.compute(key, (ignored, present) -> {
			Bell bell = (present != null) ? present : new Bell();
			bell.listeners++;
			return bell;
		});
	}

	private void unregister(IdempotencyKey key) {
		this.bells.computeIfPresent(key, (ignored, bell) -> (--bell.listeners > 0) ? bell : null);
	}

	/**
	 * The place of one duplicate among those that wait. For one thread at a time.
	 *
	 * @hidden
	 */
	public final class Place {

		private final Admission admission;

		private final Bell bell;

		/** What the bell had rung when the store was asked last. */
		private long rung;

		private Place(Admission admission, Bell bell) {
			this.admission = admission;
			this.bell = bell;
		}

		/**
		 * Returns the claim that is sent next. The bell is read before the claim, so that
		 * the wait misses no wake-up in between.
		 */
		public Move ask() {
			this.rung = this.bell.rung();
			return this.admission.woken(ConflictWaiter.this.scheduler.nanos());
		}

		/**
		 * Waits on the calling thread until it is time to ask.
		 * @return {@code false} if the thread was interrupted
		 */
		private boolean await(Move.Wait wait) {
			return this.bell.await(this.rung, wait.pollAt(), wait.deadline());
		}

		/**
		 * Waits without a thread until it is time to ask.
		 * @param woken is called once, at once if there is nothing to wait for, else by
		 * the thread of the timers or by whoever ends the conflict: it must neither block
		 * nor throw
		 * @return cancels the call, unless it has begun
		 */
		public Scheduler.Timer sleep(Move.Wait wait, Runnable woken) {
			return this.bell.sleep(this.rung, wait, woken);
		}

		/**
		 * Gives the place up.
		 * @param move what comes next. If the conflict has ended, the others are told
		 */
		public void leave(Move move) {
			try {
				if (move.endsConflict()) {
					this.bell.ring();
				}
				this.bell.leave();
			}
			finally {
				unregister(this.admission.request().key());
				ConflictWaiter.this.places.release();
			}
		}

	}

	/**
	 * Wakes up the duplicates of one key, and gives one of them after the other the turn
	 * to ask the store. It uses a lock and not a monitor, so that a waiting virtual
	 * thread does not pin its carrier.
	 */
	private final class Bell {

		private final ReentrantLock lock = new ReentrantLock();

		private final Condition rings = ConflictWaiter.this.scheduler.condition(this.lock);

		private long rung;

		private long pollMillis = ConflictWaiter.this.firstPollMillis;

		/** Whether one of those that wait will ask the store next. */
		private boolean turnTaken;

		/** Those that wait without a thread. */
		private final Set<Sleeper> sleepers = new LinkedHashSet<>();

		/** The number of waiters; only changed inside the map's atomic methods. */
		private int listeners;

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
				this.pollMillis = ConflictWaiter.this.firstPollMillis;
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
			if (failure != null) {
				logger.error("A call that waits for another one could not be woken up", failure);
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
		 * Waits for a ring after the given one, for the time to ask the store if it is
		 * this waiter's turn, or for the deadline.
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
					long rest = until - ConflictWaiter.this.scheduler.nanos();
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
			long now = ConflictWaiter.this.scheduler.nanos();
			long poll = jittered(this.pollMillis);
			this.pollMillis = Math.min(2 * this.pollMillis, MAX_POLL_MILLIS);
			return now + Math.min(poll, Math.min(lease - now, deadline - now));
		}

	}

	/** One that waits without a thread. All but its callback is done under the lock. */
	private final class Sleeper implements Scheduler.Timer {

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
			long rest = Math.max(0, nanos - ConflictWaiter.this.scheduler.nanos());
			this.timer = ConflictWaiter.this.scheduler.schedule(this::wake, Duration.ofNanos(rest));
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
