package io.idempotency.observation;

import io.idempotency.Internal;
import io.idempotency.engine.StoreObserver;
import io.idempotency.store.IdempotencyStore;
import io.micrometer.core.instrument.MeterRegistry;

/**
 * Measures how long stores take for each verb. Thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class MicrometerStoreObserver implements StoreObserver {

	private final MeterRegistry registry;

	/**
	 * Creates the observer.
	 * @param registry gets the timers
	 */
	public MicrometerStoreObserver(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public IdempotencyStore observed(IdempotencyStore store) {
		return (store instanceof TimedStore) ? store : new TimedStore(store, new StoreTimers(this.registry, store));
	}

}
