package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.store.Scheduler;

/**
 * What one store could not do at once: sent again until it is accepted or refused, and
 * once more when the engine is closed. Thread-safe.
 * <p>
 * Completions and releases are never dropped, only the results of completions are when
 * they take too much room. Claims that are given back are bounded apart: they are many
 * while a store is down, and hardly any of them was applied.
 */
final class Retries {

	static final int MAX_GIVE_BACKS = 1_000;

	static final long MAX_RESULT_BYTES = 32L * 1024 * 1024;

	/** A store that hangs holds up so many of its own writes, and no other store's. */
	private static final int THREADS = 4;

	private static final int GIVE_BACK_THREADS = 2;

	/** At the end there is nothing else to be done. */
	private static final int CLOSING_THREADS = 16;

	private final Scheduler scheduler;

	private final Executor threads;

	/** Claims that nobody runs on must not keep results waiting. */
	private final Executor giveBackThreads;

	private final Outage outage;

	private final Events events;

	private final Set<OutstandingWrite> outstanding = ConcurrentHashMap.newKeySet();

	private final AtomicInteger giveBacks = new AtomicInteger();

	private final AtomicLong resultBytes = new AtomicLong();

	private volatile boolean closed;

	Retries(Scheduler scheduler, Outage outage, Events events) {
		this.scheduler = scheduler;
		this.threads = scheduler.threads("retries", THREADS);
		this.giveBackThreads = scheduler.threads("give-backs", GIVE_BACK_THREADS);
		this.outage = outage;
		this.events = events;
	}

	/**
	 * Sends a write again until the store answers, or time is over.
	 * @param write the write, which has failed once
	 * @param atMost for how long
	 */
	void repeat(OutstandingWrite write, Duration atMost) {
		if (this.closed) {
			this.events.leftToLease(write.verb(), write.operation());
			write.gaveUp();
			return;
		}
		write.repeatUntil(this.scheduler.nanos() + TimeUnit.NANOSECONDS.convert(atMost));
		if (this.resultBytes.addAndGet(write.bytes()) > MAX_RESULT_BYTES) {
			this.resultBytes.addAndGet(-write.bytes());
			write.dropResult();
		}
		this.outstanding.add(write);
		scheduleNext(write);
	}

	/**
	 * Sends the release of a claim that nobody runs on, because its reply was lost.
	 * @param write the release
	 * @param atMost for how long
	 * @param leaseEndsIt whether the claim ends with its lease and then stands in
	 * nobody's way: it may be left to that when there are too many
	 */
	void giveBack(OutstandingWrite write, Duration atMost, boolean leaseEndsIt) {
		if (this.giveBacks.incrementAndGet() > MAX_GIVE_BACKS && leaseEndsIt) {
			this.giveBacks.decrementAndGet();
			return;
		}
		write.givenBack(leaseEndsIt);
		repeat(write, atMost);
	}

	/** How many writes are outstanding. */
	int outstanding() {
		return this.outstanding.size();
	}

	private void scheduleNext(OutstandingWrite write) {
		Duration delay = write.nextDelay();
		this.scheduler.schedule(() -> dispatch(write), delay);
	}

	private void dispatch(OutstandingWrite write) {
		try {
			Executor lane = write.isGivenBack() ? this.giveBackThreads : this.threads;
			lane.execute(() -> attempt(write));
		}
		catch (RejectedExecutionException ex) {
			// Closed: it was sent once more then, or is among what was logged.
			this.closed = true;
		}
	}

	private void attempt(OutstandingWrite write) {
		if (send(write) || this.closed) {
			return;
		}
		if (!write.isOver(this.scheduler.nanos())) {
			scheduleNext(write);
		}
		else if (ends(write)) {
			this.events.gaveUp(write.verb(), write.operation());
			write.gaveUp();
		}
	}

	/** Sends it once; says whether nothing is left to be done. */
	private boolean send(OutstandingWrite write) {
		if (write.hasEnded()) {
			return true;
		}
		boolean accepted;
		long before = write.bytes();
		try {
			accepted = write.send();
		}
		catch (Throwable ex) {
			// Whatever the store throws, the write is still outstanding.
			if (!this.closed) {
				this.outage.failed(write.verb(), write.operation(), ex);
				failed(write, ex);
				this.resultBytes.addAndGet(write.bytes() - before);
			}
			return false;
		}
		this.outage.answered();
		if (ends(write)) {
			write.answered(accepted);
		}
		return true;
	}

	private void failed(OutstandingWrite write, Throwable cause) {
		try {
			write.failed(cause);
		}
		catch (Throwable ex) {
			// The store is down: that says nothing of this write.
			this.outage.failed("renew", write.operation(), ex);
		}
	}

	private boolean ends(OutstandingWrite write) {
		if (!write.end()) {
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
	 * Sends what is outstanding once more, as much as possible at the same time, and
	 * first what nothing else would end; nothing is repeated from then on.
	 * @return counted down to zero when every one was answered or has failed
	 */
	CountDownLatch close() {
		this.closed = true;
		List<OutstandingWrite> last = new ArrayList<>(this.outstanding);
		last.sort(Comparator.comparing(OutstandingWrite::rank));
		CountDownLatch ended = new CountDownLatch(last.size());
		Executor closing = this.scheduler.threads("closing", CLOSING_THREADS);
		for (OutstandingWrite write : last) {
			try {
				closing.execute(() -> {
					try {
						send(write);
					}
					finally {
						ended.countDown();
					}
				});
			}
			catch (RejectedExecutionException ex) {
				// Closed before: it is among what is logged.
				ended.countDown();
			}
		}
		return ended;
	}

	/** What is outstanding, by operation. */
	Map<String, Integer> left() {
		Map<String, Integer> left = new TreeMap<>();
		this.outstanding.forEach((write) -> left.merge(write.operation(), 1, Integer::sum));
		return left;
	}

}
