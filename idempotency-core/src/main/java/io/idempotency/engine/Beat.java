package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.idempotency.IdempotencyEvent;
import io.idempotency.store.ClaimId;
import io.idempotency.store.Renewal;

/**
 * The beat of one claim: when it is due, what is under way, and what came of it.
 * Thread-safe; no lock is held while a store is asked.
 */
final class Beat {

	/** Part of a lease: beats that are due so soon after each other are one sweep. */
	private static final int SLACK = 30;

	private final Beats beats;

	private final GuardedCall call;

	private final ClaimId claimId;

	private final long lease;

	private final long claimedAt;

	/** From when on the lease counts. */
	private long sent;

	/** When to look after it again. */
	private volatile long due;

	private long endsAt = Beats.NEVER;

	/** Whether a renewal together with others is under way. */
	private boolean together;

	/** Whether a renewal by itself is under way. */
	private boolean alone;

	private boolean failed;

	private boolean stopped;

	private boolean completing;

	private boolean lost;

	Beat(Beats beats, GuardedCall call, ClaimId claimId, long sent) {
		this.beats = beats;
		this.call = call;
		this.claimId = claimId;
		this.lease = TimeUnit.NANOSECONDS.convert(call.policy().lease());
		this.claimedAt = sent;
		this.sent = sent;
		this.due = sent + this.lease / 3;
	}

	ClaimId claimId() {
		return this.claimId;
	}

	/** When to look after it again, by the clock of {@link Beats#now()}. */
	long due() {
		return this.due;
	}

	String operation() {
		return this.call.operation();
	}

	Renewal renewal() {
		return new Renewal(this.call.key(), this.claimId, this.call.policy().lease());
	}

	synchronized void stop() {
		this.stopped = true;
		this.beats.ended(this);
	}

	/**
	 * The work goes on where nobody may ever tell that it has ended: beats for no longer
	 * than a result would be kept, counted from the claim.
	 */
	synchronized void untilRetentionIsOver(Duration retention) {
		long nanos = TimeUnit.NANOSECONDS.convert(retention);
		this.endsAt = (nanos < Beats.NEVER - this.claimedAt) ? this.claimedAt + nanos : Beats.NEVER;
		this.due = Math.min(this.due, this.endsAt);
		this.beats.sweepAt(this.due);
	}

	/**
	 * A completion is on its way, and a beat that meets its effect is refused: from now
	 * on only the answer to the completion says whether the claim was lost.
	 */
	synchronized void completing() {
		this.completing = true;
	}

	/** Whether the store refused a beat: the claim is another's. */
	synchronized boolean isLost() {
		return this.lost;
	}

	synchronized Duty duty(long now) {
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

	boolean begins(long now, boolean asAlone) {
		boolean late;
		synchronized (this) {
			if (this.stopped) {
				isBack(asAlone);
				return false;
			}
			late = now - this.sent > this.lease / 3 * 2;
		}
		if (late) {
			this.beats.events().publish(IdempotencyEvent.BEAT_LATE, operation());
		}
		return true;
	}

	void answered(long at, boolean asAlone, boolean renewed) {
		if (renewed) {
			renewed(at, asAlone);
		}
		else if (refused()) {
			this.beats.events().claimLost(operation());
		}
	}

	private synchronized void renewed(long at, boolean asAlone) {
		isBack(asAlone);
		this.failed = false;
		this.sent = Math.max(this.sent, at);
		this.due = Math.min(this.sent + this.lease / 3, this.endsAt);
		if (!this.stopped) {
			this.beats.sweepAt(this.due);
		}
	}

	/** Says whether this is how the loss of the claim was found. */
	private synchronized boolean refused() {
		boolean found = !this.stopped && !this.completing;
		this.lost |= found;
		stop();
		return found;
	}

	void failed(boolean asAlone) {
		synchronized (this) {
			isBack(asAlone);
			this.failed = true;
			this.due = Math.min(
					this.beats.now() + TimeUnit.NANOSECONDS.convert(Beats.retryDelay(this.call.policy().lease())),
					this.endsAt);
			if (this.stopped) {
				return;
			}
			this.beats.sweepAt(this.due);
		}
		this.beats.events().publish(IdempotencyEvent.STORE_RETRY, operation());
	}

	/** What a sweep has to do for one claim. */
	enum Duty {

		/** Not due, or under way. */
		NOTHING,

		TOGETHER,

		/** It hangs together with others, or has failed. */
		ALONE,

		/** Its time is over. */
		OVER

	}

}
