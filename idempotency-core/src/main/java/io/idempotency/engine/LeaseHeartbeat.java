package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.idempotency.IdempotencyEvent;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.Renewal;

/**
 * The heartbeat of one claim. Tracks when the next renewal is due, which renewals are in
 * progress, and how the last one ended. Thread-safe; no lock is held during store
 * operations.
 */
final class LeaseHeartbeat {

	/**
	 * A sweep also renews claims whose renewal is due within this part (1/30) of the
	 * lease.
	 */
	private static final int SLACK = 30;

	/** Without a thread, a renewal is tried again after this part (1/60) of the lease. */
	private static final int NO_THREAD = 60;

	private final Renewer renewer;

	private final GuardedCall call;

	private final ClaimId claimId;

	private final ClaimOrigin origin;

	private final long lease;

	private final long claimedAt;

	/** When the lease began: the time at which the claim or its last renewal was sent. */
	private long sent;

	/** When a sweep must check this heartbeat again. */
	private volatile long due;

	private long endsAt = Renewer.NEVER;

	private volatile Runnable expired = () -> {
	};

	private Standing standing = Standing.RENEWED;

	/** Whether a renewal together with other claims is in progress. */
	private boolean together;

	/** Whether a renewal of this claim alone is in progress. */
	private boolean alone;

	/** Whether the last renewal failed: the next one is for this claim alone. */
	private boolean failed;

	LeaseHeartbeat(Renewer renewer, GuardedCall call, ClaimId claimId, ClaimOrigin origin, long sent) {
		this.renewer = renewer;
		this.call = call;
		this.claimId = claimId;
		this.origin = origin;
		this.lease = TimeUnit.NANOSECONDS.convert(call.options().lease());
		this.claimedAt = sent;
		this.sent = sent;
		this.due = sent + this.lease / 3;
	}

	ClaimId claimId() {
		return this.claimId;
	}

	/**
	 * Returns when a sweep must check this heartbeat again, by the clock of
	 * {@link Renewer#now()}.
	 */
	long due() {
		return this.due;
	}

	/**
	 * Returns the delay of the renewal, which is due after a third of the lease.
	 * @return the delay, not positive if the renewal is not due
	 */
	synchronized long lateNanos(long now) {
		return now - this.sent - this.lease / 3;
	}

	String operation() {
		return this.call.operation();
	}

	Renewal renewal() {
		return new Renewal(this.call.key(), this.claimId, this.call.options().lease());
	}

	synchronized void stop() {
		if (this.standing != Standing.LOST) {
			this.standing = Standing.STOPPED;
		}
		this.renewer.ended(this);
	}

	/**
	 * Limits the heartbeats to the retention, counted from the claim. The work continues
	 * outside the thread of the call, and its end may never be reported.
	 */
	void untilRetentionIsOver(Duration retention) {
		until(this.claimedAt, retention);
	}

	/**
	 * Limits the heartbeats from now on.
	 * @param expired runs when the limit is reached
	 */
	void atMost(Duration duration, Runnable expired) {
		this.expired = expired;
		until(this.renewer.now(), duration);
	}

	private synchronized void until(long start, Duration duration) {
		long nanos = TimeUnit.NANOSECONDS.convert(duration);
		this.endsAt = Math.min(this.endsAt, (nanos < Renewer.NEVER - start) ? start + nanos : Renewer.NEVER);
		this.due = Math.min(this.due, this.endsAt);
		this.renewer.sweepAt(this.due);
	}

	/** Reports that the limit is reached. */
	void reportExpiry() {
		this.expired.run();
		this.renewer.log().beatsEnded(operation());
	}

	/**
	 * Notes that a completion is in progress. The store rejects the heartbeat of a record
	 * that is already completed. From now on only the result of the completion shows
	 * whether the claim was lost.
	 */
	synchronized void completing() {
		if (this.standing == Standing.RENEWED) {
			this.standing = Standing.COMPLETING;
			// The write has its own deadline, which stops the renewal.
			this.endsAt = Renewer.NEVER;
		}
	}

	/** Returns whether this claim is to be renewed. */
	private boolean heartbeats() {
		return this.standing == Standing.RENEWED || this.standing == Standing.COMPLETING;
	}

	/** Returns whether the store rejected a heartbeat, so that the claim is lost. */
	synchronized boolean isLost() {
		return this.standing == Standing.LOST;
	}

	synchronized Duty duty(long now) {
		if (!heartbeats() || now + this.lease / SLACK < this.due) {
			return Duty.NOTHING;
		}
		if (now >= this.endsAt) {
			return Duty.OVER;
		}
		// If this renewal hangs, a sweep checks the claim again after a sixth of its
		// lease. If the renewal was common to several claims, that sweep renews the claim
		// alone. If a renewal of a single claim hangs, it is not sent a second time.
		this.due = Math.min(now + this.lease / 6, this.endsAt);
		if (this.alone) {
			return Duty.NOTHING;
		}
		if (this.together || this.failed) {
			this.alone = true;
			return Duty.ALONE;
		}
		this.together = true;
		return Duty.TOGETHER;
	}

	/** Notes that a renewal is no longer in progress. */
	private void isBack(boolean asAlone, boolean failed) {
		if (asAlone) {
			this.alone = false;
		}
		else {
			this.together = false;
		}
		this.failed = failed;
	}

	/**
	 * Handles the lack of a thread for a renewal. The next sweep tries again. It comes
	 * sooner than after a failure of the store, because it does not burden the store.
	 */
	synchronized void notSent(boolean asAlone) {
		isBack(asAlone, asAlone);
		dueIn(this.lease / NO_THREAD);
	}

	private void dueIn(long nanos) {
		dueAt(this.renewer.now() + nanos);
	}

	/** Plans the next renewal, unless the renewal stopped. */
	private void dueAt(long at) {
		this.due = Math.min(at, this.endsAt);
		if (heartbeats()) {
			this.renewer.sweepAt(this.due);
		}
	}

	boolean begins(long now) {
		boolean late;
		synchronized (this) {
			if (!heartbeats()) {
				return false;
			}
			late = now - this.sent > this.lease / 3 * 2;
		}
		if (late) {
			this.renewer.log().publish(IdempotencyEvent.RENEWAL_LATE, operation());
		}
		return true;
	}

	/**
	 * Notes that the store renewed the claim.
	 * @param at when the renewal was sent
	 */
	synchronized void renewed(long at, boolean asAlone) {
		isBack(asAlone, false);
		this.sent = Math.max(this.sent, at);
		// After a late reply, the next renewal is due before the next planned sweep.
		dueAt(this.sent + this.lease / 3);
	}

	/**
	 * Stops the renewal, because the store rejected it. Returns whether that shows that
	 * the claim is lost. After a stop or during a completion, it does not.
	 */
	synchronized boolean rejected() {
		boolean found = this.standing == Standing.RENEWED;
		if (found) {
			this.standing = Standing.LOST;
		}
		stop();
		return found;
	}

	/** Reports the loss. Reads from the store again. */
	void reportLoss() {
		this.renewer.log().claimLost(this.call, this.origin);
	}

	void failed(boolean asAlone) {
		synchronized (this) {
			isBack(asAlone, true);
			dueIn(TimeUnit.NANOSECONDS.convert(Renewer.retryDelay(this.call.options().lease())));
			if (!heartbeats()) {
				return;
			}
		}
		this.renewer.repeats(operation());
	}

	/**
	 * The state of the heartbeat. Only the first two states are renewed; the last two are
	 * final.
	 */
	private enum Standing {

		RENEWED, COMPLETING, STOPPED, LOST

	}

	/** The work of a sweep for one claim. */
	enum Duty {

		/** The renewal is not due, or is in progress. */
		NOTHING,

		TOGETHER,

		/**
		 * A common renewal hangs, or a renewal failed: the claim is renewed alone.
		 */
		ALONE,

		/** The time for which the claim may be renewed is over. */
		OVER

	}

}
