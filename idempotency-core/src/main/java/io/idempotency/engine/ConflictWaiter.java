package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Waits until a conflict ends, for a limited time. An owner on this node wakes up the
 * waiting duplicates. The poll is for owners on other nodes and for owners that crash.
 * All duplicates that wait for a key share the poll: one of them polls the store and
 * wakes up the others when the conflict ended. A duplicate never waits inside a store
 * operation.
 * <p>
 * A caller that blocks waits in {@link #await}. A caller that does not hold a thread
 * {@linkplain #enter enters} and is called back. Both count towards the same limit.
 * Thread-safe.
 *
 * @hidden
 */
@Internal
public final class ConflictWaiter {

	private static final long FIRST_POLL_MILLIS = 20;

	private final int maxWaiters;

	private final Semaphore places;

	private final Scheduler scheduler;

	private final long firstPollMillis;

	private final ConcurrentHashMap<IdempotencyKey, KeyCondition> conditions = new ConcurrentHashMap<>();

	/** The keys whose records are in open transactions of this node. */
	private final ConcurrentHashMap<IdempotencyKey, Hold> holds = new ConcurrentHashMap<>();

	private volatile boolean over;

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
	 * @param admission the state machine of the call, whose next step is to wait
	 * @param send sends the claim to the store
	 * @return the next step. If too many duplicates wait already or the thread was
	 * interrupted (its interrupt flag is preserved), that is the previous result of the
	 * store
	 */
	public NextStep await(ClaimStateMachine admission, Function<NextStep.Send, NextStep> send) {
		Place place = enter(admission);
		if (place == null) {
			return admission.notWaiting();
		}
		NextStep move = place.ask();
		try {
			while (true) {
				if (move instanceof NextStep.Send claim) {
					move = send.apply(claim);
				}
				else if (move instanceof NextStep.Wait wait) {
					move = place.condition.await(place.seen, wait) ? place.ask() : admission.notWaiting();
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
	 * Adds a call to the waiting duplicates. Its first claim is sent at once: the owner
	 * may have ended before another thread could wake up this call.
	 * @param admission the state machine of the call, whose next step is to wait
	 * @return the position, {@code null} if too many duplicates wait already, or if
	 * waiting has ended
	 */
	public @Nullable Place enter(ClaimStateMachine admission) {
		if (this.over || !this.places.tryAcquire()) {
			return null;
		}
		return new Place(admission, register(admission.request().key()));
	}

	/** Wakes up all duplicates that wait for a key on this node. */
	public void wakeUp(IdempotencyKey key) {
		KeyCondition condition = this.conditions.get(key);
		if (condition != null) {
			condition.signalAll();
		}
	}

	/**
	 * Ends all waits: the engine closed, and the timers may end at any time. Duplicates
	 * receive the last result of the store, as after a timeout.
	 */
	void end() {
		this.over = true;
		this.conditions.values().forEach(KeyCondition::signalAll);
	}

	/** Lets duplicates wait again. */
	void open() {
		this.over = false;
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
		return this.conditions.size();
	}

	private KeyCondition register(IdempotencyKey key) {
		return this.conditions.compute(key, (ignored, present) -> {
			KeyCondition condition = (present != null) ? present
					: new KeyCondition(this.scheduler, this.firstPollMillis);
			condition.calls++;
			return condition;
		});
	}

	private void unregister(IdempotencyKey key) {
		this.conditions.computeIfPresent(key, (ignored, condition) -> (--condition.calls > 0) ? condition : null);
	}

	/**
	 * The position of one waiting duplicate. For one thread at a time.
	 *
	 * @hidden
	 */
	public final class Place {

		private final ClaimStateMachine admission;

		private final KeyCondition condition;

		/** The number of signals of the condition before the last claim. */
		private long seen;

		private Place(ClaimStateMachine admission, KeyCondition condition) {
			this.admission = admission;
			this.condition = condition;
		}

		/**
		 * Returns the claim to send next, if the wait is not over. The condition is read
		 * before the claim, so that the wait does not miss a signal in between.
		 */
		public NextStep ask() {
			this.seen = this.condition.signals();
			return ConflictWaiter.this.over ? this.admission.notWaiting()
					: this.admission.woken(ConflictWaiter.this.scheduler.nanos());
		}

		/**
		 * Waits without a thread until it is time to poll.
		 * @param woken called once: at once if there is nothing to wait for, else by the
		 * timer thread or by the thread that ends the conflict. It must neither block nor
		 * throw
		 * @return cancels the callback, unless it has begun
		 */
		public Scheduler.Timer sleep(NextStep.Wait wait, Runnable woken) {
			return this.condition.sleep(this.seen, wait, woken);
		}

		/**
		 * Releases the position.
		 * @param move the next step. If the conflict ended, the other duplicates are
		 * woken up
		 */
		public void leave(NextStep move) {
			try {
				if (move.endsConflict()) {
					this.condition.signalAll();
				}
				this.condition.leave();
			}
			finally {
				unregister(this.admission.request().key());
				ConflictWaiter.this.places.release();
			}
		}

	}

	/**
	 * Creates the lock of a call whose record will be in an open transaction of this
	 * node. The database would let another call with the key wait for that transaction
	 * while it holds a connection of the application. Here the other call waits without a
	 * connection, like any other duplicate.
	 * @param waits whether the call waits for another call with the key
	 */
	public Hold hold(GuardedCall call, boolean waits) {
		return new Hold(call, waits);
	}

	/**
	 * The lock of one call on its key, from before the begin of its transaction to the
	 * end. Thread-safe.
	 *
	 * @hidden
	 */
	public final class Hold {

		/** The remaining lease that is assumed for a record in an open transaction. */
		private static final ClaimResult.InProgress UNSEEN = new ClaimResult.InProgress(Duration.ofSeconds(1));

		private final GuardedCall call;

		private final boolean waits;

		/** Whether the call runs, as far as its transaction shows. */
		private volatile boolean owner;

		private Hold(GuardedCall call, boolean waits) {
			this.call = call;
			this.waits = waits;
		}

		/**
		 * Takes the key until it is {@linkplain #free released}.
		 * @return whether the call may claim: no other call of this node has taken the
		 * key, or the mode counts duplicates, for which the record is needed
		 */
		public boolean take() {
			if (this.call.options().mode() == IdempotencyMode.REJECT) {
				return true;
			}
			Hold other = ConflictWaiter.this.holds.putIfAbsent(this.call.key(), this);
			return other == null || other == this;
		}

		/**
		 * Waits on the calling thread, without the key, until the key is taken.
		 * @param admission the state machine of the call, which waits
		 * @param ends whether another condition ends the wait earlier
		 * @return {@link NextStep#GO_ON}, or the last claim result if the wait is over
		 */
		public NextStep await(ClaimStateMachine admission, BooleanSupplier ends) {
			NextStep move = conflict(admission);
			return (move instanceof NextStep.Wait) ? ConflictWaiter.this.await(admission,
					(send) -> (ends.getAsBoolean() || take()) ? NextStep.GO_ON : conflict(admission)) : move;
		}

		/**
		 * Returns the next step while another call has taken the key. That call may turn
		 * out to be a duplicate itself. A call that does not wait for work, or has
		 * another fingerprint, therefore waits until that is known.
		 * @param admission the state machine of the call, which waits
		 */
		public NextStep conflict(ClaimStateMachine admission) {
			Hold other = ConflictWaiter.this.holds.get(this.call.key());
			if (other != null && other.owner) {
				if (!other.call.fingerprint().matches(this.call.fingerprint())) {
					return new NextStep.Answer(new ClaimResult.KeyReused());
				}
				if (!this.waits) {
					return new NextStep.Answer(UNSEEN);
				}
			}
			return admission.answered(UNSEEN, ConflictWaiter.this.scheduler.nanos());
		}

		/** Notes that the call runs. */
		public void owns() {
			this.owner = true;
			wakeUp(this.call.key());
		}

		/**
		 * Releases the key, unless this call released it before: another call may have
		 * taken it since.
		 */
		public void free() {
			if (ConflictWaiter.this.holds.remove(this.call.key(), this)) {
				wakeUp(this.call.key());
			}
		}

	}

}
