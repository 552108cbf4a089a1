package io.idempotency.engine;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.StoreFailureMode;
import io.idempotency.engine.Admission.Move;
import io.idempotency.engine.Upkeep.StoreUpkeep;
import io.idempotency.engine.WriteRepeater.OutstandingWrite;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Asks the store what an {@link Admission} wants to know. A claim that no call runs on is
 * given back, so that it does not hold its key.
 * <p>
 * A caller that blocks lets {@link #send} and {@link #renew} ask. Any other driver asks
 * the store itself, and hands in what has come of it. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class Claimer {

	/** A claim that fails sooner has cost its caller no time. */
	public static final Duration AT_ONCE = Duration.ofMillis(50);

	private final ConflictWaiter waiter;

	private final EventLog events;

	private final Scheduler scheduler;

	public Claimer(ConflictWaiter waiter, EventLog events, Scheduler scheduler) {
		this.waiter = waiter;
		this.events = events;
		this.scheduler = scheduler;
	}

	/**
	 * Sends the claim. While the store is away it is not sent at all, unless it is this
	 * call's turn to ask.
	 */
	public Move send(Move.Send send, Admission admission, StoreUpkeep upkeep) {
		BooleanSupplier interrupted = () -> Thread.currentThread().isInterrupted();
		Move instead = instead(send, admission, upkeep, interrupted);
		if (instead != null) {
			return instead;
		}
		try {
			ClaimResult result;
			try {
				result = upkeep.store().claim(admission.request());
			}
			catch (RuntimeException ex) {
				return failed(ex, admission, upkeep, interrupted);
			}
			return answered(result, admission, upkeep);
		}
		catch (Throwable ex) {
			// The store may have applied the claim, and no call will run on it. It may be
			// the log that has failed.
			giveBack(admission, upkeep);
			throw ex;
		}
	}

	/**
	 * Returns what comes next in place of a claim that is not sent, because the store is
	 * away, or because a look of the call has waited for it in vain. A look stands for no
	 * claim if the call would then run: its result is known to exist.
	 * @param unwanted whether the call is not wanted any more
	 * @return the move, {@code null} if the claim is to be sent
	 */
	public @Nullable Move instead(Move.Send send, Admission admission, StoreUpkeep upkeep, BooleanSupplier unwanted) {
		Outage outage = upkeep.outage();
		if (send.again()) {
			return null;
		}
		Throwable reason = upkeep.finished().takeUnanswered(admission.request().key());
		if (reason != null) {
			outage.failed("make", admission.call().operation(), reason);
			outage.noAnswer();
			if (admission.call().options().onStoreFailure() == StoreFailureMode.PROCEED) {
				return null;
			}
		}
		else if (outage.mayAsk()) {
			return null;
		}
		else {
			reason = outage.cause();
		}
		return admission.notSent(reason, unwanted.getAsBoolean());
	}

	/** The store has answered the claim. */
	public Move answered(ClaimResult result, Admission admission, StoreUpkeep upkeep) {
		upkeep.outage().answered();
		return admission.answered(result, this.scheduler.nanos());
	}

	/**
	 * The store has failed to answer the claim.
	 * @param unwanted whether the call is not wanted any more, which may be why
	 */
	public Move failed(RuntimeException cause, Admission admission, StoreUpkeep upkeep, BooleanSupplier unwanted) {
		long now = this.scheduler.nanos();
		boolean before = unwanted.getAsBoolean();
		if (!before) {
			Outage outage = upkeep.outage();
			outage.failed("make", admission.call().operation(), cause);
			if (now - admission.sentNanos() >= AT_ONCE.toNanos()) {
				outage.noAnswer();
			}
		}
		// The log may have taken its time.
		return admission.failed(cause, before || unwanted.getAsBoolean(), now);
	}

	/** Renews the claim before its call runs. */
	public Move renew(Admission admission, StoreUpkeep upkeep) {
		ClaimRequest request = admission.request();
		try {
			boolean renewed;
			try {
				renewed = upkeep.store().renew(request.key(), request.claimId(), request.lease());
			}
			catch (RuntimeException ex) {
				return renewalFailed(ex, admission, upkeep);
			}
			return renewed(renewed, admission, upkeep);
		}
		catch (Throwable ex) {
			giveBack(admission, upkeep);
			throw ex;
		}
	}

	/** The store has answered the renewal. Nothing has run on a claim that it refuses. */
	public Move renewed(boolean accepted, Admission admission, StoreUpkeep upkeep) {
		upkeep.outage().answered();
		return admission.renewed(accepted, this.scheduler.nanos());
	}

	/** The store has failed to answer the renewal. */
	public Move renewalFailed(RuntimeException cause, Admission admission, StoreUpkeep upkeep) {
		upkeep.outage().failed("renew", admission.call().operation(), cause);
		return admission.failed(cause, false, this.scheduler.nanos());
	}

	/** Reports that the call runs on a claim whose owner has died. */
	public void takenOver(Move.Run run, Admission admission) {
		if (run.granted().claim().abandoned()) {
			this.events.takenOver(admission.call(), run.granted().before(), admission.request().origin());
		}
	}

	/** Reports that the call runs unguarded. */
	public void letGo(Move.Unguarded unguarded, Admission admission, StoreUpkeep upkeep) {
		if (unguarded.giveBack()) {
			giveBack(admission, upkeep);
		}
		this.events.runsUnguarded(admission.call(), admission.request().origin(), upkeep.outage());
	}

	/** Reports that the call is refused, and returns the exception for its caller. */
	public IdempotencyStoreUnavailableException refused(Move.Refuse refuse, Admission admission, StoreUpkeep upkeep) {
		if (refuse.giveBack()) {
			giveBack(admission, upkeep);
		}
		this.events.publish(IdempotencyEvent.STORE_UNAVAILABLE, admission.call().operation());
		return refuse.exception();
	}

	/** Releases the claim, on which no call runs, as often as it takes. */
	public void giveBack(Admission admission, StoreUpkeep upkeep) {
		ClaimRequest request = admission.request();
		IdempotencyStore store = upkeep.store();
		boolean leaseEndsIt = request.type() == ClaimType.LEASED && request.takeOver();
		upkeep.repeater().giveBack(new OutstandingWrite("give back", admission.call().operation()) {

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
