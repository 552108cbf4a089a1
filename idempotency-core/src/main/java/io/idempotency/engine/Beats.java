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

	private volatile boolean lost;

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

	/** Whether the store refused a beat: the claim is another's. */
	boolean lost() {
		return this.lost;
	}

	private synchronized void scheduleNext(Duration delay) {
		if (!this.stopped) {
			this.next = this.background.schedule(this, delay);
		}
	}

	private synchronized boolean isStopped() {
		return this.stopped;
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
			Duration soon = lease.dividedBy(10);
			scheduleNext((soon.compareTo(MAX_RETRY_DELAY) < 0) ? soon : MAX_RETRY_DELAY);
			return;
		}
		if (renewed) {
			scheduleNext(lease.dividedBy(3));
		}
		else if (!isStopped()) {
			this.lost = true;
			stop();
			this.events.claimLost(this.call.operation());
		}
	}

}
