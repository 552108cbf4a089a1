package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.store.Scheduler;

/**
 * Repeats the failed writes of one store, until the store accepts or rejects them or
 * their time is over. An engine that is closing sends them faster, until the time of the
 * close is over. Thread-safe.
 * <p>
 * Completions and releases are never dropped to save memory. A completion only loses its
 * result if all results together need too much memory. The releases of unused claims have
 * a separate limit: there are many of them while a store is down, and few of these claims
 * were applied.
 */
final class WriteRepeater {

	static final int MAX_GIVE_BACKS = 1_000;

	static final long MAX_RESULT_BYTES = 32L * 1024 * 1024;

	/**
	 * The number of threads for the writes of one store, so that a store that hangs
	 * delays only its own writes.
	 */
	private static final int THREADS = 4;

	private static final int GIVE_BACK_THREADS = 2;

	/** More threads than before, because an engine that closes has no other work. */
	private static final int CLOSING_THREADS = 16;

	private static final Duration CLOSING_PAUSE = Duration.ofMillis(100);

	private final Scheduler scheduler;

	private final Executor threads;

	/**
	 * Dedicated threads, because the releases of unused claims must not delay results.
	 */
	private final Executor giveBackThreads;

	private final StoreCircuitBreaker breaker;

	private final EventPublisher log;

	private final Set<OutstandingWrite> outstanding = ConcurrentHashMap.newKeySet();

	private final AtomicInteger giveBacks = new AtomicInteger();

	private final AtomicLong resultBytes = new AtomicLong();

	private final Executor closing;

	/** The writes that a closing engine still has to send. */
	private final CallsInProgress unfinished;

	private volatile Phase phase = Phase.OPEN;

	private volatile long closingEnds;

	WriteRepeater(Scheduler scheduler, StoreCircuitBreaker breaker, EventPublisher log) {
		this.scheduler = scheduler;
		this.threads = scheduler.threads("retries", THREADS);
		this.giveBackThreads = scheduler.threads("give-backs", GIVE_BACK_THREADS);
		this.closing = scheduler.threads("closing", CLOSING_THREADS);
		this.unfinished = new CallsInProgress(scheduler);
		this.breaker = breaker;
		this.log = log;
	}

	/**
	 * Repeats a write until the store responds or the time is over.
	 * @param write the write, which failed once or, for the release of an unused claim,
	 * was not sent yet
	 * @param atMost the longest time for which the write is repeated
	 */
	void repeat(OutstandingWrite write, Duration atMost) {
		if (this.phase == Phase.CLOSED) {
			write.gaveUp();
			this.log.leftToLease(write.verb, write.operation);
			if (write.rank == OutstandingWrite.Rank.MAY_BE_LEFT) {
				this.giveBacks.decrementAndGet();
				return;
			}
		}
		write.deadline = this.scheduler.nanos() + TimeUnit.NANOSECONDS.convert(atMost);
		if (this.resultBytes.addAndGet(write.bytes()) > MAX_RESULT_BYTES) {
			this.resultBytes.addAndGet(-write.bytes());
			write.dropResult();
		}
		this.outstanding.add(write);
		if (this.phase == Phase.OPEN) {
			plan(write, false);
		}
		else if (this.phase == Phase.CLOSING) {
			finish(write);
		}
	}

	/**
	 * Releases a claim on which no call runs, and repeats the release like any other
	 * write.
	 * @param atMost the longest time for which the write is repeated
	 * @param leaseEndsIt whether another call may take over the claim after its lease. If
	 * there are too many claims to release, such a claim is not released: the key stays
	 * claimed until the lease expires
	 */
	void giveBack(OutstandingWrite write, Duration atMost, boolean leaseEndsIt) {
		if (this.giveBacks.incrementAndGet() > MAX_GIVE_BACKS && leaseEndsIt) {
			this.giveBacks.decrementAndGet();
			return;
		}
		write.rank = leaseEndsIt ? OutstandingWrite.Rank.MAY_BE_LEFT : OutstandingWrite.Rank.GIVEN_BACK;
		repeat(write, atMost);
	}

	/** Returns the number of pending writes. */
	int outstanding() {
		return this.outstanding.size();
	}

	/** Returns the size of the results of all pending writes. */
	long resultBytes() {
		return this.resultBytes.get();
	}

	/**
	 * Schedules the next attempt.
	 * @param closing whether it is one of the attempts of the close, which are more
	 * frequent
	 */
	private void plan(OutstandingWrite write, boolean closing) {
		Duration delay = closing ? CLOSING_PAUSE : write.nextDelay(this.scheduler.random());
		this.scheduler.schedule(() -> dispatch(write, closing), delay);
	}

	private void dispatch(OutstandingWrite write, boolean closing) {
		Executor lane = closing ? this.closing : write.isGivenBack() ? this.giveBackThreads : this.threads;
		if (!ResultExecutor.starts(lane, () -> attempt(write, closing))) {
			again(write, closing);
		}
	}

	private void attempt(OutstandingWrite write, boolean closing) {
		boolean ended = false;
		try {
			ended = send(write);
		}
		finally {
			// Whatever exception the attempt threw, the write is still pending.
			if (!ended) {
				again(write, closing);
			}
			else if (closing) {
				this.unfinished.ends();
			}
		}
	}

	private void again(OutstandingWrite write, boolean closing) {
		long deadline = closing ? this.closingEnds : write.deadline;
		if (this.scheduler.nanos() - deadline < 0) {
			if (closing || this.phase == Phase.OPEN) {
				plan(write, closing);
			}
		}
		else if (closing) {
			this.unfinished.ends();
		}
		else if (this.phase == Phase.OPEN && ends(write)) {
			write.gaveUp();
			this.log.gaveUp(write.verb, write.operation);
		}
	}

	/** Sends a write once, and returns whether the write ended. */
	private boolean send(OutstandingWrite write) {
		if (write.ended.get()) {
			return true;
		}
		boolean accepted;
		long before = write.bytes();
		try {
			accepted = write.send();
		}
		catch (Throwable ex) {
			// Errors count as failures: otherwise a result that always causes an error is
			// never dropped.
			if (this.phase == Phase.OPEN) {
				this.breaker.failed(write.verb, write.operation, ex);
				// If this fails too, the store is unavailable, and the write is not the
				// cause.
				EventPublisher.run(() -> write.failedAgain(ex),
						(again) -> this.breaker.failed("renew", write.operation, again));
				this.resultBytes.addAndGet(write.bytes() - before);
			}
			return false;
		}
		this.breaker.answered();
		if (ends(write)) {
			write.answered(accepted);
		}
		return true;
	}

	private boolean ends(OutstandingWrite write) {
		if (!write.ended.compareAndSet(false, true)) {
			return false;
		}
		this.outstanding.remove(write);
		this.resultBytes.addAndGet(-write.bytes());
		if (write.isGivenBack()) {
			this.giveBacks.decrementAndGet();
		}
		return true;
	}

	/**
	 * Sends the pending writes repeatedly, in the order of their rank and as many as
	 * possible at the same time, until the store accepts them or the time is over. Writes
	 * that fail meanwhile are also sent.
	 * @param deadline when to stop
	 * @return the writes that are still to be sent
	 */
	CallsInProgress close(long deadline) {
		this.closingEnds = deadline;
		this.phase = Phase.CLOSING;
		List<OutstandingWrite> last = new ArrayList<>(this.outstanding);
		last.sort(Comparator.comparing((write) -> write.rank));
		last.forEach(this::finish);
		return this.unfinished;
	}

	private void finish(OutstandingWrite write) {
		this.unfinished.begins();
		dispatch(write, true);
	}

	/** Stops all repetitions from now on. */
	void closed() {
		this.phase = Phase.CLOSED;
	}

	/**
	 * Repeats writes again, including those that were pending at the close. A late write
	 * is harmless: it contains its claim id, and the store rejects it if another call
	 * took over.
	 */
	void open() {
		this.phase = Phase.OPEN;
		this.outstanding.forEach((write) -> plan(write, false));
	}

	/** Returns the number of pending writes for each operation. */
	Map<String, Integer> left() {
		Map<String, Integer> left = new TreeMap<>();
		this.outstanding.forEach((write) -> left.merge(write.operation, 1, Integer::sum));
		return left;
	}

	/** The handling of a write that the store does not accept. */
	private enum Phase {

		/** It is repeated with growing pauses. */
		OPEN,

		/** It is repeated with short pauses, until the time of the close is over. */
		CLOSING,

		/**
		 * It is not repeated until the next start of the engine; its lease may expire
		 * before.
		 */
		CLOSED

	}

	/**
	 * A write that the store did not respond to yet and that {@link WriteRepeater}
	 * repeats.
	 */
	static abstract class OutstandingWrite {

		private static final long FIRST_DELAY_MILLIS = 100;

		private static final long MAX_DELAY_MILLIS = 5_000;

		String verb;

		final String operation;

		private final AtomicBoolean ended = new AtomicBoolean();

		private long delayMillis = FIRST_DELAY_MILLIS;

		private long deadline;

		Rank rank = Rank.ENDING;

		protected OutstandingWrite(String verb, String operation) {
			this.verb = verb;
			this.operation = operation;
		}

		final boolean isGivenBack() {
			return this.rank != Rank.ENDING;
		}

		/**
		 * Returns how long to wait before the write is sent once more. The wait is a
		 * random time between half of a bound and the bound, which doubles each time from
		 * 100 ms up to 5 s.
		 * @param random a random number from zero to less than one
		 */
		final Duration nextDelay(double random) {
			long half = this.delayMillis / 2;
			this.delayMillis = Math.min(2 * this.delayMillis, MAX_DELAY_MILLIS);
			return Duration.ofMillis(half + (long) (random * (half + 1)));
		}

		/**
		 * Sends the write to the store.
		 * @return whether the store accepted it; throws if the store cannot perform it
		 */
		abstract boolean send();

		/** Handles the failure of a repeated attempt. */
		protected void failedAgain(Throwable cause) {
		}

		/** Handles the response of the store. */
		protected abstract void answered(boolean accepted);

		/**
		 * Notes that the write is no longer repeated. Whether the store applied it is
		 * unknown.
		 */
		protected void gaveUp() {
		}

		/** Returns the size of its result in bytes. */
		protected long bytes() {
			return 0;
		}

		/** Drops its result to save memory. */
		protected void dropResult() {
		}

		/** The order in which writes are sent when the engine closes. */
		enum Rank {

			/** The end of a call that ran. */
			ENDING,

			/** The release of a claim that does not end with its lease. */
			GIVEN_BACK,

			/** The release of a claim that ends with its lease. */
			MAY_BE_LEFT

		}

	}

}
