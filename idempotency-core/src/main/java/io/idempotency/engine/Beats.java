package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.ScheduledFuture;

import io.idempotency.store.Claim;
import org.jspecify.annotations.Nullable;

/**
 * Renews one claim every third of its lease until it is stopped or the store refuses; a
 * beat that fails is repeated sooner.
 */
final class Beats implements Runnable {

	private static final Duration MAX_RETRY_DELAY = Duration.ofSeconds(1);

	private final GuardedCall call;

	private final Claim claim;

	private final Background background;

	private final Events events;

	private @Nullable ScheduledFuture<?> next;

	private boolean stopped;

	private boolean completing;

	private boolean lost;

	Beats(GuardedCall call, Claim claim, Background background, Events events) {
		this.call = call;
		this.claim = claim;
		this.background = background;
		this.events = events;
	}

	void start() {
		scheduleNext(this.call.policy().lease().dividedBy(3));
	}

	synchronized void stop() {
		this.stopped = true;
		if (this.next != null) {
			this.next.cancel(false);
		}
	}

	/**
	 * A completion is on its way, and a beat that meets its effect is refused: from now
	 * on only the answer to the completion says whether the claim was lost.
	 */
	synchronized void completing() {
		this.completing = true;
	}

	/** Whether the store refused a beat: the claim is another's. */
	synchronized boolean lost() {
		return this.lost;
	}

	static Duration retryDelay(Duration lease) {
		Duration soon = lease.dividedBy(10);
		return (soon.compareTo(MAX_RETRY_DELAY) < 0) ? soon : MAX_RETRY_DELAY;
	}

	private synchronized void scheduleNext(Duration delay) {
		if (!this.stopped) {
			this.next = this.background.schedule(this, delay);
		}
	}

	/** Ends the beats, and says whether this is how the loss of the claim was found. */
	private synchronized boolean refused() {
		this.lost = !this.stopped && !this.completing;
		stop();
		return this.lost;
	}

	@Override
	public void run() {
		Duration lease = this.call.policy().lease();
		boolean renewed;
		try {
			renewed = this.call.store().renew(this.claim.key(), this.claim.id(), lease);
		}
		catch (Throwable ex) {
			// Whatever the store throws: without a further beat the claim would be lost
			// for sure.
			this.events.retrying("renew", this.call.operation(), ex);
			scheduleNext(retryDelay(lease));
			return;
		}
		if (renewed) {
			scheduleNext(lease.dividedBy(3));
		}
		else if (refused()) {
			this.events.claimLost(this.call.operation());
		}
	}

}
