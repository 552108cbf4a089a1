package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;

/**
 * The upkeep of one store, which each store has for itself, so that a store that hangs or
 * fails does not affect the claims of another store. Thread-safe.
 *
 * @param store the store, or the store that an observer has put in front of it
 * @param outage knows whether the store fails
 * @param renewer renews the claims of running calls
 * @param repeater repeats writes that the store has not answered
 * @param finished finds the results of calls that this node has seen finished
 * @hidden
 */
@Internal
public record StoreUpkeep(IdempotencyStore store, Outage outage, Renewer renewer, WriteRepeater repeater,
		FinishedCallFinder finished) {

	/**
	 * Makes the upkeep of a store.
	 * @param name the name of the store in the log
	 */
	static StoreUpkeep of(IdempotencyStore store, String name, Scheduler scheduler, EventLog log) {
		Outage outage = new Outage(name, scheduler);
		return new StoreUpkeep(store, outage, new Renewer(store, scheduler, outage, log),
				new WriteRepeater(scheduler, outage, log), new FinishedCallFinder(store, name, scheduler, outage));
	}

}
