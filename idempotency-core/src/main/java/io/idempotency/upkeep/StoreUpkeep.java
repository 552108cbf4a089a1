package io.idempotency.upkeep;

import java.time.Duration;

import io.idempotency.Internal;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;

/**
 * The upkeep of one store, which each store has for itself, so that a store that hangs or
 * fails does not affect the claims of another store. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class StoreUpkeep {

	private final IdempotencyStore store;

	private final Outage outage;

	private final Renewer renewer;

	private final WriteRepeater writeRepeater;

	private final FinishedCallFinder finished;

	/**
	 * Makes the upkeep of a store.
	 * @param store the store, or the store that an observer has put in front of it
	 * @param name the name of the store in the log
	 */
	StoreUpkeep(IdempotencyStore store, String name, Scheduler scheduler, EventLog log) {
		this.store = store;
		this.outage = new Outage(name, scheduler);
		this.renewer = new Renewer(store, scheduler, this.outage, log);
		this.writeRepeater = new WriteRepeater(scheduler, this.outage, log);
		this.finished = new FinishedCallFinder(store, name, scheduler, this.outage);
	}

	public IdempotencyStore store() {
		return this.store;
	}

	Renewer beats() {
		return this.renewer;
	}

	WriteRepeater retries() {
		return this.writeRepeater;
	}

	/** Knows whether the store fails. */
	public Outage outage() {
		return this.outage;
	}

	/**
	 * Begins to renew a claim.
	 * @param call the call that owns the claim
	 * @param origin where the claim comes from
	 * @param sentNanos when the claim, or its last renewal, was sent
	 * @return the beat, which can stop the renewal
	 */
	public Beat beat(GuardedCall call, ClaimId claimId, ClaimOrigin origin, long sentNanos) {
		return this.renewer.start(call, claimId, origin, sentNanos);
	}

	/**
	 * Repeats a write that has failed once, until the store answers or the time is over.
	 * @param atMost the longest time for which the write is repeated
	 */
	public void repeat(OutstandingWrite write, Duration atMost) {
		this.writeRepeater.repeat(write, atMost);
	}

	/**
	 * Releases a claim that no call runs on, and repeats the release like any other
	 * write.
	 * @param atMost the longest time for which the write is repeated
	 * @param leaseEndsIt whether another call may take the claim over after its lease.
	 * Such a claim is left to its lease if there are too many claims to give back
	 */
	public void giveBack(OutstandingWrite write, Duration atMost, boolean leaseEndsIt) {
		this.writeRepeater.giveBack(write, atMost, leaseEndsIt);
	}

	/** Finds the results of calls that this node has seen finished. */
	public FinishedCallFinder finished() {
		return this.finished;
	}

}
