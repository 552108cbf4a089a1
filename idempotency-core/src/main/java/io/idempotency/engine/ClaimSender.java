package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.idempotency.store.StoreNotReachedException;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.upkeep.ConflictWaiter;
import io.idempotency.upkeep.OutstandingWrite;
import io.idempotency.upkeep.StoreUpkeep;
import org.jspecify.annotations.Nullable;

/**
 * Sends the claim of one call, always with the same claim id. If the reply is lost within
 * 500 ms, the claim is sent once more. If there is still no reply, the claim is given
 * back. While the store is away it is not sent at all, unless it is this call's turn to
 * ask. For one thread.
 */
final class ClaimSender {

	/**
	 * A store that takes longer to fail has run into a time-out. A second claim would run
	 * into it again while the caller waits.
	 */
	static final Duration SENT_AGAIN_WITHIN = Duration.ofMillis(500);

	/** A claim that fails sooner has cost its caller no time. */
	static final Duration AT_ONCE = Duration.ofMillis(50);

	static final Duration RETRY_AFTER = Duration.ofSeconds(1);

	private final GuardedCall call;

	private final IdempotencyStore store;

	private final StoreUpkeep upkeep;

	private final ConflictWaiter waiter;

	private final Scheduler scheduler;

	private final ClaimRequest request;

	private long sentNanos;

	ClaimSender(GuardedCall call, IdempotencyStore store, StoreUpkeep upkeep, ConflictWaiter waiter,
			Scheduler scheduler, ClaimOrigin origin) {
		this.call = call;
		this.store = store;
		this.upkeep = upkeep;
		this.waiter = waiter;
		this.scheduler = scheduler;
		this.request = call.claim(origin);
	}

	/** Returns where the claim comes from. */
	ClaimOrigin origin() {
		return this.request.origin();
	}

	/** Returns when the last claim was sent; its lease counts from this time. */
	long sentNanos() {
		return this.sentNanos;
	}

	ClaimResult send() {
		if (!this.upkeep.outage().mayAsk()) {
			// Another call asks. Nothing was sent, so nothing has to be given back.
			throw unavailable(this.upkeep.outage().cause());
		}
		this.sentNanos = this.scheduler.nanos();
		try {
			ClaimResult result = sendTwice();
			this.upkeep.outage().answered();
			return result;
		}
		catch (StoreNotReachedException | UnreadableRecordException ex) {
			throw unavailable(ex);
		}
		catch (RuntimeException ex) {
			giveBack();
			throw unavailable(ex);
		}
		catch (Throwable ex) {
			// The store may have applied the claim, and no call will run on it.
			giveBack();
			throw ex;
		}
	}

	private ClaimResult sendTwice() {
		RuntimeException lost;
		try {
			return this.store.claim(this.request);
		}
		catch (RuntimeException ex) {
			failed(ex);
			if (ex instanceof StoreNotReachedException || ex instanceof UnreadableRecordException || !isSoon()
					|| Thread.currentThread().isInterrupted()) {
				throw ex;
			}
			// The store may have applied the claim. It then knows the claim id and grants
			// the claim again.
			lost = ex;
		}
		try {
			return this.store.claim(this.request);
		}
		catch (RuntimeException ex) {
			failed(ex);
			if (ex instanceof UnreadableRecordException) {
				throw ex;
			}
			if (ex != lost) {
				lost.addSuppressed(ex);
			}
			throw lost;
		}
	}

	private boolean isSoon() {
		return isWithin(SENT_AGAIN_WITHIN);
	}

	private boolean isWithin(Duration time) {
		return this.scheduler.nanos() - this.sentNanos < time.toNanos();
	}

	private void failed(RuntimeException ex) {
		if (!Thread.currentThread().isInterrupted()) {
			this.upkeep.outage().failed("make", this.call.operation(), ex);
			if (!isWithin(AT_ONCE)) {
				this.upkeep.outage().noAnswer();
			}
		}
	}

	IdempotencyStoreUnavailableException unavailable(@Nullable Throwable cause) {
		return new IdempotencyStoreUnavailableException(this.call.operation(), RETRY_AFTER, cause);
	}

	/** Gives the claim back. No call runs on it, so it must not hold its key. */
	void giveBack() {
		boolean leaseEndsIt = this.request.type() == ClaimType.LEASED && this.request.takeOver();
		this.upkeep.giveBack(new OutstandingWrite("give back", this.call.operation()) {

			@Override
			public boolean send() {
				return ClaimSender.this.store.release(ClaimSender.this.request.key(),
						ClaimSender.this.request.claimId());
			}

			@Override
			protected void answered(boolean accepted) {
				ClaimSender.this.waiter.wakeUp(ClaimSender.this.request.key());
			}

		}, this.call.policy().retention(), leaseEndsIt);
	}

}
