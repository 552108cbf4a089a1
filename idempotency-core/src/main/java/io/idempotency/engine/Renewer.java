package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.idempotency.IdempotencyEvent;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.NotAllRenewedException;
import io.idempotency.store.Renewal;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Renews the claims of one store. Each claim is renewed every third of its lease, counted
 * from the time its last renewal was sent, until its heartbeat is stopped or the store
 * rejects the renewal.
 * <p>
 * One sweep finds all claims that are due and renews them together, so all claims share
 * one timer. One locked row may make a common renewal hang or fail. Each claim that was
 * not renewed is then renewed alone, on a separate thread, so that the locked row does
 * not stop the heartbeats of other claims. Thread-safe; no lock is held during store
 * operations.
 */
final class Renewer {

	static final int BATCH = 250;

	/**
	 * The number of renewals of one store that may hang before other renewals have to
	 * wait.
	 */
	private static final int THREADS = 16;

	static final long NEVER = Long.MAX_VALUE;

	private static final long AFTER_A_FAILURE = TimeUnit.MILLISECONDS.toNanos(100);

	private final IdempotencyStore store;

	private final Scheduler scheduler;

	private final Executor threads;

	private final StoreCircuitBreaker breaker;

	private final EventPublisher log;

	private final long origin;

	private final Set<LeaseHeartbeat> running = ConcurrentHashMap.newKeySet();

	private volatile long nextSweep = NEVER;

	private Scheduler.@Nullable Timer timer;

	private volatile boolean closed;

	Renewer(IdempotencyStore store, Scheduler scheduler, StoreCircuitBreaker breaker, EventPublisher log) {
		this.store = store;
		this.scheduler = scheduler;
		this.threads = scheduler.threads("beats", THREADS);
		this.breaker = breaker;
		this.log = log;
		this.origin = scheduler.nanos();
	}

	/**
	 * Starts a first thread, so that no renewal has to wait for a thread later.
	 * @throws RejectedExecutionException if no thread is available
	 */
	void startThread() {
		this.threads.execute(() -> {
		});
	}

	static Duration retryDelay(Duration lease) {
		Duration soon = lease.dividedBy(10);
		return (soon.compareTo(Duration.ofSeconds(1)) < 0) ? soon : Duration.ofSeconds(1);
	}

	/**
	 * Begins to renew a claim.
	 * @param call the call that owns the claim
	 * @param origin the origin of the claim
	 * @param sentNanos when the claim, or its last renewal, was sent
	 * @return the heartbeat, which can stop the renewal
	 */
	LeaseHeartbeat start(GuardedCall call, ClaimId claimId, ClaimOrigin origin, long sentNanos) {
		LeaseHeartbeat heartbeat = new LeaseHeartbeat(this, call, claimId, origin, sentNanos - this.origin);
		this.running.add(heartbeat);
		sweepAt(heartbeat.due());
		return heartbeat;
	}

	/** Removes a heartbeat that stopped. */
	void ended(LeaseHeartbeat heartbeat) {
		this.running.remove(heartbeat);
	}

	EventPublisher log() {
		return this.log;
	}

	/** Reports that a renewal failed and is repeated. */
	void repeats(String operation) {
		if (!this.closed) {
			this.log.publish(IdempotencyEvent.STORE_RETRY, operation);
		}
	}

	/** Returns the number of claims that are being renewed. */
	int running() {
		return this.running.size();
	}

	/** Returns the delay of the most overdue renewal, zero if no renewal is late. */
	long lateNanos() {
		long now = now();
		return this.running.stream().mapToLong((heartbeat) -> Math.max(0, heartbeat.lateNanos(now))).max().orElse(0);
	}

	/**
	 * Stops the reports of failed renewals, because a closing scheduler interrupts them.
	 * Until the scheduler is closed, the claims of running calls are renewed.
	 */
	void close() {
		this.closed = true;
	}

	/** Reports failed renewals again. */
	void open() {
		this.closed = false;
	}

	long now() {
		return this.scheduler.nanos() - this.origin;
	}

	void sweepAt(long due) {
		if (due < this.nextSweep) {
			schedule(due);
		}
	}

	private synchronized void schedule(long due) {
		if (due < this.nextSweep) {
			Scheduler.Timer last = this.timer;
			this.timer = this.scheduler.schedule(this::sweep, Duration.ofNanos(Math.max(0, due - now())));
			this.nextSweep = due;
			if (last != null) {
				last.cancel();
			}
		}
	}

	/**
	 * Clears the plan before the iteration over the heartbeats, so that a heartbeat that
	 * is added behind the current position plans the next sweep.
	 */
	private synchronized void begin() {
		this.nextSweep = NEVER;
		this.timer = null;
	}

	private void sweep() {
		begin();
		long now = now();
		// However the iteration ends, there is a next sweep.
		long next = now + AFTER_A_FAILURE;
		try {
			next = walk(now);
		}
		finally {
			sweepAt(next);
		}
	}

	/** Renews or ends the claims that are due, and returns when the next sweep is due. */
	private long walk(long now) {
		long next = NEVER;
		List<LeaseHeartbeat> together = new ArrayList<>();
		for (LeaseHeartbeat heartbeat : this.running) {
			switch (heartbeat.duty(now)) {
				case TOGETHER -> together.add(heartbeat);
				case ALONE -> dispatch(List.of(heartbeat), true);
				case OVER -> {
					heartbeat.stop();
					// The timer thread does not write to the log.
					ResultExecutor.startOrRun(this.threads, heartbeat::reportExpiry);
				}
				case NOTHING -> {
				}
			}
			next = Math.min(next, heartbeat.due());
		}
		for (int from = 0; from < together.size(); from += BATCH) {
			dispatch(together.subList(from, Math.min(from + BATCH, together.size())), false);
		}
		return next;
	}

	private void dispatch(List<LeaseHeartbeat> heartbeats, boolean alone) {
		if (!ResultExecutor.starts(this.threads, () -> renew(heartbeats, alone))) {
			heartbeats.forEach((heartbeat) -> heartbeat.notSent(alone));
		}
	}

	private void renew(List<LeaseHeartbeat> heartbeats, boolean alone) {
		long sent = now();
		List<LeaseHeartbeat> asked = heartbeats;
		Set<ClaimId> rejected = Set.of();
		Set<ClaimId> notRenewed = Set.of();
		Throwable failure = null;
		try {
			asked = heartbeats.stream().filter((heartbeat) -> heartbeat.begins(sent)).toList();
			if (asked.isEmpty()) {
				return;
			}
			rejected = rejected(asked.stream().map(LeaseHeartbeat::renewal).toList());
			this.breaker.answered();
		}
		catch (NotAllRenewedException ex) {
			// Some rows are locked. The store renewed or rejected all other claims.
			failure = ex;
			rejected = ex.rejected();
			notRenewed = ex.notRenewed();
		}
		catch (Throwable ex) {
			// Includes errors: without a further renewal the claims would be lost.
			failure = ex;
			notRenewed = asked.stream().map(LeaseHeartbeat::claimId).collect(Collectors.toSet());
		}
		List<LeaseHeartbeat> lost = new ArrayList<>();
		for (LeaseHeartbeat heartbeat : asked) {
			if (notRenewed.contains(heartbeat.claimId())) {
				heartbeat.failed(alone);
			}
			else if (!rejected.contains(heartbeat.claimId())) {
				heartbeat.renewed(sent, alone);
			}
			else if (heartbeat.rejected()) {
				lost.add(heartbeat);
			}
		}
		if (failure != null && !this.closed) {
			// A closing scheduler interrupts renewals; that is not a failure of the
			// store.
			this.breaker.failed("renew", asked.get(0).operation(), failure);
		}
		// Comes last, because a report waits for the store.
		lost.forEach(LeaseHeartbeat::reportLoss);
	}

	private Set<ClaimId> rejected(List<Renewal> renewals) {
		if (renewals.size() > 1) {
			return this.store.renewAll(renewals);
		}
		Renewal one = renewals.get(0);
		return this.store.renew(one.key(), one.claimId(), one.lease()) ? Set.of() : Set.of(one.claimId());
	}

}
