package io.idempotency.engine;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;

import io.idempotency.IdempotencyMode;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the results of calls that this node has lately seen finished. Which ones is a
 * guess that saves or costs a look and decides nothing: a key takes the place of another
 * one, and a record may be gone. Keeps 128 KB for a store, from the first key on.
 * Thread-safe.
 */
final class FinishedCallFinder {

	private static final int PLACES = 1 << 14;

	/**
	 * How long a store is not asked after it has failed. It may never be able to answer,
	 * for example if only the transactions of the application can see the table.
	 */
	static final Duration PAUSE = Duration.ofSeconds(10);

	private static final Logger logger = LoggerFactory.getLogger(FinishedCallFinder.class);

	private final IdempotencyStore store;

	private final String name;

	private final Scheduler scheduler;

	private final Outage outage;

	private final AtomicBoolean told = new AtomicBoolean();

	private volatile @Nullable Long failedAt;

	/** The looks that have run into a time-out, until their calls claim. */
	private final Map<Looker, Unanswered> unanswered = new ConcurrentHashMap<>();

	/** A part of the hash of the key in each place, 0 for none. */
	private volatile @Nullable AtomicLongArray places;

	/**
	 * Finds results in a store.
	 * @param name the name of the store in the log
	 * @param scheduler the time
	 * @param outage knows whether the claims of the store fail
	 */
	FinishedCallFinder(IdempotencyStore store, String name, Scheduler scheduler, Outage outage) {
		this.store = store;
		this.name = name;
		this.scheduler = scheduler;
		this.outage = outage;
	}

	/** Notes that the store has a result of the key. */
	public void add(IdempotencyKey key) {
		AtomicLongArray known = this.places;
		((known != null) ? known : create()).setOpaque(place(key), mark(key));
	}

	private synchronized AtomicLongArray create() {
		AtomicLongArray known = this.places;
		if (known == null) {
			known = new AtomicLongArray(PLACES);
			this.places = known;
		}
		return known;
	}

	/** Notes that the store may have no result of the key that can be given. */
	public void remove(IdempotencyKey key) {
		AtomicLongArray known = this.places;
		if (known != null) {
			known.compareAndSet(place(key), mark(key), 0);
		}
	}

	/** Returns whether the store is worth a look for the result of the key. */
	public boolean contain(IdempotencyKey key) {
		AtomicLongArray known = this.places;
		if (known == null) {
			return false;
		}
		return known.getOpaque(place(key)) == mark(key) && !isPaused();
	}

	private boolean isPaused() {
		Long failed = this.failedAt;
		return this.outage.isOn() || failed != null && this.scheduler.nanos() - failed < PAUSE.toNanos();
	}

	/**
	 * Looks for the result of a call, if that is worth it. A store that cannot be read
	 * has no result: the claim that follows decides, and tells what is wrong. If that has
	 * taken long, the look {@linkplain #takeUnanswered stands for the claim}.
	 */
	public ClaimResult.@Nullable Completed find(GuardedCall call) {
		if (call.options().mode() == IdempotencyMode.REJECT || !contain(call.key())) {
			// In this mode the claim counts, whatever the record has.
			return null;
		}
		ClaimResult.Completed found = null;
		long begun = this.scheduler.nanos();
		try {
			found = this.store.find(call.key(), call.fingerprint()).orElse(null);
		}
		catch (RuntimeException ex) {
			failed(call, ex, begun, true);
		}
		if (found == null) {
			remove(call.key());
		}
		return found;
	}

	/**
	 * Is told by a driver that does not block that its look has found nothing.
	 * @param failure why, {@code null} if there is nothing
	 * @param begun when it has begun
	 * @param claims whether this thread claims next for the call. Where nobody takes the
	 * failure, another call of the thread would
	 */
	public void foundNothing(GuardedCall call, @Nullable RuntimeException failure, long begun, boolean claims) {
		remove(call.key());
		if (failure != null) {
			failed(call, failure, begun, claims);
		}
	}

	private void failed(GuardedCall call, RuntimeException cause, long begun, boolean claims) {
		String operation = call.operation();
		long now = this.scheduler.nanos();
		this.failedAt = now;
		if (claims && now - begun >= Admission.SENT_AGAIN_WITHIN.toNanos()) {
			// Some calls never claim. There are few: after a failure nobody looks.
			this.unanswered.values().removeIf((other) -> !other.isFresh(now));
			this.unanswered.put(Looker.of(call.key()), new Unanswered(cause, now));
		}
		if (this.told.compareAndSet(false, true)) {
			EventLog.write(() -> logger.warn(
					"{} could not look for the result of a call of '{}'; its claims decide. Told once", this.name,
					operation, cause));
		}
		else {
			EventLog.write(() -> logger.debug("{} could not look for the result of a call of '{}'", this.name,
					operation, cause));
		}
	}

	private static int place(IdempotencyKey key) {
		return (int) key.hashPart(3) & (PLACES - 1);
	}

	/**
	 * Takes the failure of the look of a call that is about to claim. Its claim would
	 * make the caller wait for a second time-out. Another call of the key has not waited,
	 * so a failure is that of the calling thread.
	 * @return the failure, {@code null} if there was none, it came soon or long ago
	 */
	@Nullable RuntimeException takeUnanswered(IdempotencyKey key) {
		Unanswered look = this.unanswered.isEmpty() ? null : this.unanswered.remove(Looker.of(key));
		return (look != null && look.isFresh(this.scheduler.nanos())) ? look.cause() : null;
	}

	/** The hash starts with the caller; its end tells the keys of a caller apart. */
	private static long mark(IdempotencyKey key) {
		return key.hashPart(2);
	}

	private record Looker(IdempotencyKey key, Thread thread) {

		static Looker of(IdempotencyKey key) {
			return new Looker(key, Thread.currentThread());
		}

	}

	private record Unanswered(RuntimeException cause, long at) {

		boolean isFresh(long now) {
			return now - this.at < Outage.PAUSE.toNanos();
		}

	}

}
