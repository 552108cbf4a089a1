package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.protocol.Admission;
import io.idempotency.protocol.EncryptedResults;
import io.idempotency.protocol.Move;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.idempotency.upkeep.ConflictWaiter;
import io.idempotency.upkeep.Outage;
import io.idempotency.upkeep.OutstandingWrite;
import io.idempotency.upkeep.StoreUpkeep;

/**
 * Asks the store what an {@link Admission} wants to know. A claim that no call runs on is
 * given back, so that it does not hold its key. Thread-safe.
 */
final class Claimer {

	/** A claim that fails sooner has cost its caller no time. */
	static final Duration AT_ONCE = Duration.ofMillis(50);

	private final ConflictWaiter waiter;

	private final EncryptedResults results;

	private final Events events;

	private final Scheduler scheduler;

	Claimer(ConflictWaiter waiter, EncryptedResults results, Events events, Scheduler scheduler) {
		this.waiter = waiter;
		this.results = results;
		this.events = events;
		this.scheduler = scheduler;
	}

	/**
	 * Sends the claim. While the store is away it is not sent at all, unless it is this
	 * call's turn to ask.
	 */
	Move send(Move.Send send, Admission admission, StoreUpkeep upkeep) {
		Outage outage = upkeep.outage();
		if (!send.again() && !outage.mayAsk()) {
			return admission.notSent(outage.cause(), Thread.currentThread().isInterrupted());
		}
		try {
			ClaimResult result;
			try {
				result = upkeep.store().claim(admission.request());
			}
			catch (RuntimeException ex) {
				return failed(ex, admission, outage);
			}
			outage.answered();
			return admission.answered(result, this.scheduler.nanos());
		}
		catch (Throwable ex) {
			// The store may have applied the claim, and no call will run on it. It may be
			// the log that has failed.
			giveBack(admission, upkeep);
			throw ex;
		}
	}

	private Move failed(RuntimeException cause, Admission admission, Outage outage) {
		long now = this.scheduler.nanos();
		boolean interrupted = Thread.currentThread().isInterrupted();
		if (!interrupted) {
			outage.failed("make", admission.call().operation(), cause);
			if (now - admission.sentNanos() >= AT_ONCE.toNanos()) {
				outage.noAnswer();
			}
		}
		// The log may have taken its time.
		return admission.failed(cause, interrupted || Thread.currentThread().isInterrupted(), now);
	}

	Move renew(Admission admission, StoreUpkeep upkeep) {
		ClaimRequest request = admission.request();
		try {
			boolean renewed;
			try {
				renewed = upkeep.store().renew(request.key(), request.claimId(), request.lease());
			}
			catch (RuntimeException ex) {
				upkeep.outage().failed("renew", admission.call().operation(), ex);
				return admission.failed(ex, false, this.scheduler.nanos());
			}
			upkeep.outage().answered();
			if (!renewed) {
				this.events.claimLost(admission.call(), request.origin());
			}
			return admission.renewed(renewed, this.scheduler.nanos());
		}
		catch (Throwable ex) {
			giveBack(admission, upkeep);
			throw ex;
		}
	}

	OwnedClaim own(Move.Run run, Admission admission, StoreUpkeep upkeep, ObservedCall observed) {
		ClaimResult.Acquired granted = run.granted();
		ClaimOrigin origin = admission.request().origin();
		try {
			if (granted.claim().abandoned()) {
				this.events.takenOver(admission.call(), granted.before(), origin);
			}
			return new OwnedClaim(admission.call(), granted.claim(), origin, run.sentNanos(), upkeep, this.waiter,
					this.results, this.events, observed);
		}
		catch (Throwable ex) {
			// No call runs on the claim.
			giveBack(admission, upkeep);
			throw ex;
		}
	}

	/** Reports that the call runs unguarded. */
	void letGo(Move.Unguarded unguarded, Admission admission, StoreUpkeep upkeep) {
		if (unguarded.giveBack()) {
			giveBack(admission, upkeep);
		}
		this.events.runsUnguarded(admission.call(), admission.request().origin(), upkeep.outage());
	}

	/** Reports that the call is refused, and returns the exception for its caller. */
	IdempotencyStoreUnavailableException refused(Move.Refuse refuse, Admission admission, StoreUpkeep upkeep) {
		if (refuse.giveBack()) {
			giveBack(admission, upkeep);
		}
		this.events.publish(IdempotencyEvent.STORE_UNAVAILABLE, admission.call().operation());
		return refuse.exception();
	}

	private void giveBack(Admission admission, StoreUpkeep upkeep) {
		ClaimRequest request = admission.request();
		IdempotencyStore store = upkeep.store();
		boolean leaseEndsIt = request.type() == ClaimType.LEASED && request.takeOver();
		upkeep.giveBack(new OutstandingWrite("give back", admission.call().operation()) {

			@Override
			public boolean send() {
				return store.release(request.key(), request.claimId());
			}

			@Override
			protected void answered(boolean accepted) {
				Claimer.this.waiter.wakeUp(request.key());
			}

		}, request.retention(), leaseEndsIt);
	}

}
