package io.idempotency.engine;

import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;

/**
 * The parts of the engine that each store has for itself, so that a store that hangs or
 * fails does not affect the claims of another store.
 *
 * @param store the store
 * @param beats renews the claims of running calls
 * @param retries repeats the writes that the store could not do
 * @param outage logs the failures of the store
 * @param finished finds the results of finished calls
 */
record StoreLine(IdempotencyStore store, Beats beats, Retries retries, Outage outage, FinishedCalls finished) {

	/**
	 * Makes the line to a store.
	 * @param store the store, or the store that an observer has put in front of it
	 * @param name the name of the store in the log
	 */
	static StoreLine to(IdempotencyStore store, String name, Scheduler scheduler, Events events) {
		Outage outage = new Outage(name, scheduler);
		return new StoreLine(store, new Beats(store, scheduler, outage, events), new Retries(scheduler, outage, events),
				outage, new FinishedCalls(store, name, scheduler, outage));
	}

}
