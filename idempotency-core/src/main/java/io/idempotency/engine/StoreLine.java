package io.idempotency.engine;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;

/**
 * What the engine keeps for each store apart, so that one that hangs or fails is no
 * matter of another's claims.
 *
 * @param store the store
 * @param beats renews the claims of running calls
 * @param retries sends again what the store could not do
 * @param outage tells the log of the store's failures
 */
record StoreLine(IdempotencyStore store, Beats beats, Retries retries, Outage outage) {

	static StoreLine to(IdempotencyStore store, Scheduler scheduler, Events events) {
		Outage outage = new Outage(store.getClass().getSimpleName(), scheduler);
		return new StoreLine(store, new Beats(store, scheduler, outage, events), new Retries(scheduler, outage, events),
				outage);
	}

}
