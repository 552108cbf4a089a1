package io.idempotency.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.idempotency.store.ClaimId;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.NotAllRenewedException;
import io.idempotency.store.Renewal;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Renews the claims of one store, each every third of its lease counted from when its
 * last renewal was sent, until it is stopped or the store refuses it.
 * <p>
 * One sweep finds all claims that are due and renews them together, so that a call that
 * ends within a third of its lease costs no timer. What hangs or fails with others is
 * renewed by itself from then on, on a thread of its own, so that one row that somebody
 * holds locked keeps nobody else's beat. Thread-safe; no lock is held while a store is
 * asked.
 */
final class Beats {

	static final int BATCH = 250;

	/**
	 * So many claims of one store may hang, each by itself, before others have to wait.
	 */
	private static final int THREADS = 16;

	private static final long NEVER = Long.MAX_VALUE;

	/** Part of a lease: beats that are due so soon after each other are one sweep. */
	private static final int SLACK = 30;

	private final IdempotencyStore store;

	private final Scheduler scheduler;

	private final Executor threads;

	private final Outage outage;

	private final Events events;

	private final long origin;

	private final Set<Beat> running = ConcurrentHashMap.newKeySet();

	private volatile long nextSweep = NEVER;

	private Scheduler.@Nullable Timer timer;

	private volatile boolean closed;

	Beats(IdempotencyStore store, Scheduler scheduler, Outage outage, Events events) {
		this.store = store;
		this.scheduler = scheduler;
		this.threads = scheduler.threads("beats", THREADS);
		this.outage = outage;
		this.events = events;
		this.origin = scheduler.nanos();
	}

	static Duration retryDelay(Duration lease) {
		Duration soon = lease.dividedBy(10);
		return (soon.compareTo(Duration.ofSeconds(1)) < 0) ? soon : Duration.ofSeconds(1);
	}

	/**
	 * Begins to renew a claim.
	 * @param call whose claim it is
	 * @param claimId the claim
	 * @param sentNanos when the claim, or its last renewal, was sent
	 * @return stops renewing it
	 */
	Beat start(GuardedCall call, ClaimId claimId, long sentNanos) {
		Beat beat = new Beat(call, claimId, sentNanos - this.origin);
		this.running.add(beat);
		sweepAt(beat.due);
		return beat;
	}

	/** For how many claims it beats. */
	int running() {
		return this.running.size();
	}

	/** Whoever still runs keeps its claim for the rest of its lease. */
	void close() {
		this.closed = true;
	}

	private long now() {
		return this.scheduler.nanos() - this.origin;
	}

	private void sweepAt(long due) {
		if (due < this.nextSweep) {
			schedule(due);
		}
	}

	private synchronized void schedule(long due) {
		if (due < this.nextSweep) {
			if (this.timer != null) {
				this.timer.cancel();
			}
			this.nextSweep = due;
			this.timer = this.scheduler.schedule(this::sweep, Duration.ofNanos(Math.max(0, due - now())));
		}
	}

	/** Before the walk: a claim that begins behind it asks for the next one. */
	private synchronized void begin() {
		this.nextSweep = NEVER;
		this.timer = null;
	}

	private void sweep() {
		begin();
		long now = now();
		long next = NEVER;
		List<Beat> batch = new ArrayList<>();
		for (Beat beat : this.running) {
			Duty duty = beat.duty(now);
			if (duty == Duty.TOGETHER) {
				batch.add(beat);
				if (batch.size() == BATCH) {
					dispatch(batch, false);
					batch = new ArrayList<>();
				}
			}
			else if (duty == Duty.ALONE) {
				dispatch(List.of(beat), true);
			}
			else if (duty == Duty.OVER) {
				this.events.beatsEnded(beat.operation());
				beat.stop();
			}
			next = Math.min(next, beat.due);
		}
		if (!batch.isEmpty()) {
			dispatch(batch, false);
		}
		sweepAt(next);
	}

	private void dispatch(List<Beat> beats, boolean alone) {
		try {
			this.threads.execute(() -> renew(beats, alone));
		}
		catch (RejectedExecutionException closed) {
			this.closed = true;
		}
	}

	private void renew(List<Beat> beats, boolean alone) {
		long sent = now();
		List<Beat> asked = new ArrayList<>(beats.size());
		List<Renewal> renewals = new ArrayList<>(beats.size());
		for (Beat beat : beats) {
			if (beat.begins(sent, alone)) {
				asked.add(beat);
				renewals.add(beat.renewal());
			}
		}
		if (asked.isEmpty()) {
			return;
		}
		try {
			Set<ClaimId> refused = refused(renewals);
			asked.forEach((beat) -> beat.answered(sent, alone, !refused.contains(beat.claimId)));
		}
		catch (NotAllRenewedException ex) {
			// Rows that somebody holds: all others were renewed.
			this.outage.failed("renew", asked.get(0).operation(), ex);
			for (Beat beat : asked) {
				if (ex.notRenewed().contains(beat.claimId)) {
					beat.failed(alone);
				}
				else {
					beat.answered(sent, alone, !ex.refused().contains(beat.claimId));
				}
			}
			return;
		}
		catch (Throwable ex) {
			// Whatever the store throws: without a further beat the claims would be lost
			// for sure.
			if (this.closed) {
				// Interrupted, and no failure of the store's.
				return;
			}
			this.outage.failed("renew", asked.get(0).operation(), ex);
			asked.forEach((beat) -> beat.failed(alone));
			return;
		}
		this.outage.answered();
	}

	private Set<ClaimId> refused(List<Renewal> renewals) {
		if (renewals.size() > 1) {
			return this.store.renewAll(renewals);
		}
		Renewal one = renewals.get(0);
		return this.store.renew(one.key(), one.claimId(), one.lease()) ? Set.of() : Set.of(one.claimId());
	}

	/** What a sweep has to do for one claim. */
	private enum Duty {

		/** Not due, or under way. */
		NOTHING,

		TOGETHER,

		/** It hangs together with others, or has failed. */
		ALONE,

		/** Its time is over. */
		OVER

	}

	/** The beat of one claim. */
	final class Beat {

		private final GuardedCall call;

		private final ClaimId claimId;

		private final long lease;

		private final long claimedAt;

		/** From when on the lease counts. */
		private long sent;

		/** When to look after it again. */
		private volatile long due;

		private long endsAt = NEVER;

		/** Whether a renewal together with others is under way. */
		private boolean together;

		/** Whether a renewal by itself is under way. */
		private boolean alone;

		private boolean failed;

		private boolean stopped;

		private boolean completing;

		private boolean lost;

		Beat(GuardedCall call, ClaimId claimId, long sent) {
			this.call = call;
			this.claimId = claimId;
			this.lease = TimeUnit.NANOSECONDS.convert(call.policy().lease());
			this.claimedAt = sent;
			this.sent = sent;
			this.due = sent + this.lease / 3;
		}

		private String operation() {
			return this.call.operation();
		}

		private Renewal renewal() {
			return new Renewal(this.call.key(), this.claimId, this.call.policy().lease());
		}

		synchronized void stop() {
			this.stopped = true;
			Beats.this.running.remove(this);
		}

		/**
		 * The work goes on where nobody may ever tell that it has ended: beats for no
		 * longer than a result would be kept, counted from the claim.
		 */
		synchronized void untilRetentionIsOver(Duration retention) {
			long nanos = TimeUnit.NANOSECONDS.convert(retention);
			this.endsAt = (nanos < NEVER - this.claimedAt) ? this.claimedAt + nanos : NEVER;
			this.due = Math.min(this.due, this.endsAt);
			sweepAt(this.due);
		}

		/**
		 * A completion is on its way, and a beat that meets its effect is refused: from
		 * now on only the answer to the completion says whether the claim was lost.
		 */
		synchronized void completing() {
			this.completing = true;
		}

		/** Whether the store refused a beat: the claim is another's. */
		synchronized boolean isLost() {
			return this.lost;
		}

		private synchronized Duty duty(long now) {
			if (this.stopped || now + this.lease / SLACK < this.due) {
				return Duty.NOTHING;
			}
			if (now >= this.endsAt) {
				return Duty.OVER;
			}
			// Looked after again if it hangs: by itself if it hung with others, and never
			// twice.
			this.due = Math.min(now + this.lease / 6, this.endsAt);
			if (this.alone) {
				return Duty.NOTHING;
			}
			this.alone = this.together || this.failed;
			this.together |= !this.alone;
			return this.alone ? Duty.ALONE : Duty.TOGETHER;
		}

		private void isBack(boolean asAlone) {
			if (asAlone) {
				this.alone = false;
			}
			else {
				this.together = false;
			}
		}

		private boolean begins(long now, boolean asAlone) {
			boolean late;
			synchronized (this) {
				if (this.stopped) {
					isBack(asAlone);
					return false;
				}
				late = now - this.sent > this.lease / 3 * 2;
			}
			if (late) {
				Beats.this.events.publish(IdempotencyEvent.BEAT_LATE, operation());
			}
			return true;
		}

		private void answered(long at, boolean asAlone, boolean renewed) {
			if (renewed) {
				renewed(at, asAlone);
			}
			else if (refused()) {
				Beats.this.events.claimLost(operation());
			}
		}

		private synchronized void renewed(long at, boolean asAlone) {
			isBack(asAlone);
			this.failed = false;
			this.sent = Math.max(this.sent, at);
			this.due = Math.min(this.sent + this.lease / 3, this.endsAt);
			if (!this.stopped) {
				sweepAt(this.due);
			}
		}

		/** Says whether this is how the loss of the claim was found. */
		private synchronized boolean refused() {
			boolean found = !this.stopped && !this.completing;
			this.lost |= found;
			stop();
			return found;
		}

		private void failed(boolean asAlone) {
			synchronized (this) {
				isBack(asAlone);
				this.failed = true;
				this.due = Math.min(now() + TimeUnit.NANOSECONDS.convert(retryDelay(this.call.policy().lease())),
						this.endsAt);
				if (this.stopped) {
					return;
				}
				sweepAt(this.due);
			}
			Beats.this.events.publish(IdempotencyEvent.STORE_RETRY, operation());
		}

	}

}
