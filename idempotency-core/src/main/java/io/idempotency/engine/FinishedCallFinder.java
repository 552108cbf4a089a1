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
import org.slf4j.event.Level;

/**
 * Finds the results of calls that recently completed on this node. The remembered keys
 * are hints that save or cost a lookup and decide nothing: a key replaces another one,
 * and its record may be deleted. Needs 128 KB for a store, from the first key on.
 * Thread-safe.
 */
final class FinishedCallFinder {

	private static final int POSITIONS = 1 << 14;

	/**
	 * How long a store is not read after a lookup failed. It may never succeed, for
	 * example if only the transactions of the application can see the table.
	 */
	static final Duration PAUSE = Duration.ofSeconds(10);

	private static final Logger logger = LoggerFactory.getLogger(FinishedCallFinder.class);

	private final IdempotencyStore store;

	private final String name;

	private final Scheduler scheduler;

	private final StoreCircuitBreaker breaker;

	private final AtomicBoolean logged = new AtomicBoolean();

	/** The lookups that timed out, by thread, until their calls claim. */
	private final Map<Thread, Timeout> timeouts = new ConcurrentHashMap<>();

	private volatile @Nullable Long failedAt;

	/** A part of the hash of the key at each position, 0 for none. */
	private volatile @Nullable AtomicLongArray marks;

	/**
	 * Creates a finder.
	 * @param name the name of the store in the log
	 * @param breaker whether the claims of the store fail
	 */
	FinishedCallFinder(IdempotencyStore store, String name, Scheduler scheduler, StoreCircuitBreaker breaker) {
		this.store = store;
		this.name = name;
		this.scheduler = scheduler;
		this.breaker = breaker;
	}

	/** Remembers that the store has a result of the key. */
	void add(IdempotencyKey key) {
		AtomicLongArray known = this.marks;
		((known != null) ? known : create()).setOpaque(position(key), mark(key));
	}

	private synchronized AtomicLongArray create() {
		AtomicLongArray known = (this.marks != null) ? this.marks : new AtomicLongArray(POSITIONS);
		this.marks = known;
		return known;
	}

	/** Forgets the key: the store may not have a result that can be replayed. */
	void remove(IdempotencyKey key) {
		AtomicLongArray known = this.marks;
		if (known != null) {
			known.compareAndSet(position(key), mark(key), 0);
		}
	}

	/** Returns whether a lookup of the result of the key is worthwhile. */
	boolean contain(IdempotencyKey key) {
		AtomicLongArray known = this.marks;
		Long failed = this.failedAt;
		return known != null && known.getOpaque(position(key)) == mark(key) && !this.breaker.isOn()
				&& (failed == null || this.scheduler.nanos() - failed >= PAUSE.toNanos());
	}

	/**
	 * Looks up the result of a call, if that is worthwhile. If the lookup fails, the
	 * claim that follows decides; if it timed out, it {@linkplain #takeUnanswered
	 * replaces the claim}.
	 */
	ClaimResult.@Nullable Completed find(GuardedCall call) {
		if (call.options().mode() == IdempotencyMode.REJECT || !contain(call.key())) {
			// In this mode the claim counts, regardless of the record.
			return null;
		}
		ClaimResult.Completed found = null;
		RuntimeException failure = null;
		long begun = this.scheduler.nanos();
		try {
			found = this.store.find(call.key(), call.fingerprint()).orElse(null);
		}
		catch (RuntimeException ex) {
			failure = ex;
		}
		if (found == null) {
			foundNothing(call, failure, begun, true);
		}
		return found;
	}

	/**
	 * Notes that a lookup found no result.
	 * @param failure the failure of the lookup, {@code null} if it found nothing
	 * @param begun when the lookup began
	 * @param claims whether this thread claims next for the call
	 */
	void foundNothing(GuardedCall call, @Nullable RuntimeException failure, long begun, boolean claims) {
		remove(call.key());
		if (failure == null) {
			return;
		}
		long now = this.scheduler.nanos();
		this.failedAt = now;
		if (claims && now - begun >= ClaimStateMachine.SENT_AGAIN_WITHIN.toNanos()) {
			// Some calls never claim. They are few: lookups pause after a failure.
			this.timeouts.values().removeIf((other) -> !other.isRecent(now));
			this.timeouts.put(Thread.currentThread(), new Timeout(call.key(), failure, now));
		}
		Level level = this.logged.compareAndSet(false, true) ? Level.WARN : Level.DEBUG;
		EventPublisher.write(() -> logger.atLevel(level)
			.setCause(failure)
			.log("[IDEM-113] Lookup of a stored result in store {} failed for a call of '{}': the call continues "
					+ "with a claim. No action is needed. Logged once.", this.name, call.operation()));
	}

	/**
	 * Removes and returns the failure of the lookup by this thread for the key that is
	 * about to be claimed. With a claim, the caller would wait for a second timeout.
	 * @return the failure, {@code null} without a recent failure
	 */
	@Nullable RuntimeException takeUnanswered(IdempotencyKey key) {
		Timeout timeout = this.timeouts.isEmpty() ? null : this.timeouts.remove(Thread.currentThread());
		return (timeout != null && timeout.key().equals(key) && timeout.isRecent(this.scheduler.nanos()))
				? timeout.cause() : null;
	}

	private static int position(IdempotencyKey key) {
		return (int) key.hashPart(3) & (POSITIONS - 1);
	}

	/**
	 * Returns the end of the hash: its start contains the caller, and its end
	 * distinguishes the keys of a caller.
	 */
	private static long mark(IdempotencyKey key) {
		return key.hashPart(2);
	}

	private record Timeout(IdempotencyKey key, RuntimeException cause, long at) {

		boolean isRecent(long now) {
			return now - this.at < StoreCircuitBreaker.PAUSE.toNanos();
		}

	}

}
