package io.idempotency.upkeep;

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

/**
 * Waits until a conflict ends, for a limited time. An owner on this node wakes up its
 * waiters. The poll is for owners on other nodes and for owners that die. The waiters of
 * one key share it: one of them asks the store, however many they are, and wakes up the
 * others when the conflict has ended. A duplicate never waits inside a call of the store.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class ConflictWaiter {

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
		if (!this.places.tryAcquire()) {
			return admission.notWaiting();
		}
		IdempotencyKey key = admission.request().key();
		Bell bell = register(key);
		try {
			return await(bell, admission, send);
		}
		finally {
			bell.leave();
			unregister(key);
			this.places.release();
		}
	}

	private Move await(Bell bell, Admission admission, Function<Move.Send, Move> send) {
		// The bell is read before the claim, so that the wait misses no wake-up in
		// between. The first claim comes at once: the owner may have ended before anybody
		// could wake this call up.
		long rung = bell.rung();
		Move move = admission.woken(this.scheduler.nanos());
		while (true) {
			if (move instanceof Move.Send claim) {
				move = send.apply(claim);
			}
			else if (move instanceof Move.Wait wait) {
				if (!bell.await(rung, wait.pollAt(), wait.deadline())) {
					return admission.notWaiting();
				}
				rung = bell.rung();
				move = admission.woken(this.scheduler.nanos());
			}
			else {
				if (move.endsConflict()) {
					bell.ring();
				}
				return move;
			}
		}
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
			this.lock.lock();
			try {
				this.rung++;
				this.pollMillis = ConflictWaiter.this.firstPollMillis;
				this.rings.signalAll();
			}
			finally {
				this.lock.unlock();
			}
		}

		/** Offers the turn of a waiter that leaves to the others. */
		void leave() {
			this.lock.lock();
			try {
				if (!this.turnTaken) {
					this.rings.signal();
				}
			}
			finally {
				this.lock.unlock();
			}
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

}
