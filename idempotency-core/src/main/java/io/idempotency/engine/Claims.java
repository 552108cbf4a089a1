package io.idempotency.engine;

import java.util.concurrent.TimeUnit;

import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.StoreFailureMode;
import io.idempotency.protocol.EncryptedResults;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.protocol.IdempotencyPolicy;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Scheduler;
import io.idempotency.store.UnreadableRecordException;
import io.idempotency.upkeep.ConflictWaiter;
import io.idempotency.upkeep.StoreUpkeep;

/**
 * Asks the store for the right to run. Waits for the end of a conflict if the policy says
 * so. A call never starts on a lease that may be over or whose first beat is due: the
 * claim is renewed before.
 */
final class Claims {

	/**
	 * The largest number of renewals before a call starts. A store that answers more
	 * slowly than its leases last cannot guard a call.
	 */
	private static final int MAX_RENEWALS = 3;

	private final ConflictWaiter waiter;

	private final EncryptedResults results;

	private final Events events;

	private final Scheduler scheduler;

	private final ClaimOrigins origins;

	Claims(ConflictWaiter waiter, EncryptedResults results, Events events, Scheduler scheduler, ClaimOrigins origins) {
		this.waiter = waiter;
		this.results = results;
		this.events = events;
		this.scheduler = scheduler;
		this.origins = origins;
	}

	Claimed claim(GuardedCall call, StoreUpkeep upkeep, ObservedCall observed) {
		ClaimSender sender = new ClaimSender(call, upkeep.store(), upkeep, this.waiter, this.scheduler,
				this.origins.current());
		ClaimResult result;
		try {
			result = sender.send();
		}
		catch (IdempotencyStoreUnavailableException ex) {
			if (mayProceed(call, ex)) {
				this.events.runsUnguarded(call, sender.origin(), upkeep.outage());
				return new Unguarded();
			}
			throw unavailable(call, ex);
		}
		if (result instanceof ClaimResult.InProgress busy && call.policy().conflict() == ConflictMode.WAIT) {
			result = await(call, busy, sender);
		}
		if (result instanceof ClaimResult.Acquired acquired) {
			return own(call, acquired, sender, upkeep, observed);
		}
		return new Settled(result);
	}

	/**
	 * Returns whether a call may run unguarded. A record that cannot be read shows that
	 * the key is in use, and an interrupt shows that the call is not wanted any more. In
	 * both cases the call must not run.
	 */
	private static boolean mayProceed(GuardedCall call, IdempotencyStoreUnavailableException ex) {
		return call.policy().onStoreFailure() == StoreFailureMode.PROCEED
				&& !(ex.getCause() instanceof UnreadableRecordException) && !Thread.currentThread().isInterrupted();
	}

	/**
	 * Waits for the end of a conflict. The first call is known to run, so a failure of
	 * the store never lets this call run unguarded.
	 */
	private ClaimResult await(GuardedCall call, ClaimResult.InProgress busy, ClaimSender sender) {
		try {
			return this.waiter.await(call, busy, sender::send);
		}
		catch (IdempotencyStoreUnavailableException ex) {
			throw unavailable(call, ex);
		}
	}

	private Claimed own(GuardedCall call, ClaimResult.Acquired acquired, ClaimSender sender, StoreUpkeep upkeep,
			ObservedCall observed) {
		try {
			return owned(call, acquired, sender, upkeep, observed);
		}
		catch (IdempotencyStoreUnavailableException given) {
			throw given;
		}
		catch (Throwable ex) {
			// No call runs on the claim.
			sender.giveBack();
			throw ex;
		}
	}

	private Claimed owned(GuardedCall call, ClaimResult.Acquired acquired, ClaimSender sender, StoreUpkeep upkeep,
			ObservedCall observed) {
		Claim claim = acquired.claim();
		long sent = sender.sentNanos();
		if (call.policy().mode() != IdempotencyMode.REJECT) {
			for (int i = 0; !isFresh(call.policy(), sent); i++) {
				if (i == MAX_RENEWALS) {
					sender.giveBack();
					throw unavailable(call, sender.unavailable(null));
				}
				sent = this.scheduler.nanos();
				if (!renew(call, claim, sender, upkeep)) {
					this.events.claimLost(call, sender.origin());
					return new Settled(new ClaimResult.InProgress(call.policy().lease()));
				}
			}
		}
		if (claim.abandoned()) {
			this.events.takenOver(call, acquired.before(), sender.origin());
		}
		return new Owned(new OwnedClaim(call, claim, sender.origin(), sent, upkeep, this.waiter, this.results,
				this.events, observed));
	}

	/**
	 * Returns whether the call may begin without a renewal. The lease counts from the
	 * time the claim was sent, and that may be long ago.
	 */
	private boolean isFresh(IdempotencyPolicy policy, long sent) {
		long lease = TimeUnit.NANOSECONDS.convert(policy.lease());
		return this.scheduler.nanos() - sent < (policy.renewal() ? lease / 3 : lease);
	}

	private boolean renew(GuardedCall call, Claim claim, ClaimSender sender, StoreUpkeep upkeep) {
		try {
			boolean renewed = upkeep.store().renew(claim.key(), claim.id(), call.policy().lease());
			upkeep.outage().answered();
			return renewed;
		}
		catch (RuntimeException ex) {
			upkeep.outage().failed("renew", call.operation(), ex);
			sender.giveBack();
			throw unavailable(call, sender.unavailable(ex));
		}
	}

	private IdempotencyStoreUnavailableException unavailable(GuardedCall call,
			IdempotencyStoreUnavailableException ex) {
		this.events.publish(IdempotencyEvent.STORE_UNAVAILABLE, call.operation());
		return ex;
	}

	/** The answer to a claim. */
	sealed interface Claimed {

	}

	/** The call owns its key. */
	record Owned(OwnedClaim claim) implements Claimed {
	}

	/** The call must not run, and the result says why. */
	record Settled(ClaimResult result) implements Claimed {
	}

	/** The store could not be reached, and the policy says to run all the same. */
	record Unguarded() implements Claimed {
	}

}
