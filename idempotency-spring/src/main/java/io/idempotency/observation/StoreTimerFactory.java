package io.idempotency.observation;

import io.idempotency.Internal;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Measures how long stores take for each verb. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class StoreTimerFactory {

	private final MeterRegistry registry;

	public StoreTimerFactory(MeterRegistry registry) {
		this.registry = registry;
	}

	IdempotencyStore observed(IdempotencyStore store) {
		// The store behind a near cache is measured, and not the cache.
		boolean stays = store instanceof TimedStore || store instanceof NearCacheIdempotencyStore;
		return stays ? store : new TimedStore(store, new StoreTimer(this.registry, store));
	}

}
