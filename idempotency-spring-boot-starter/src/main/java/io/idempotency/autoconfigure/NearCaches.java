package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.engine.EngineObserver;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.ClassUtils;

/** Puts the near cache in front of a store. */
final class NearCaches {

	private static final Logger logger = LoggerFactory.getLogger(NearCaches.class);

	private static final String CAFFEINE = "com.github.benmanes.caffeine.cache.Caffeine";

	private NearCaches() {
	}

	/**
	 * Puts a near cache in front of a store.
	 * @param nearCache its settings
	 * @param beanFactory knows who measures the store and who reads the statistics of the
	 * cache, if anybody does
	 */
	static IdempotencyStore before(IdempotencyStore store, IdempotencyProperties.NearCache nearCache,
			BeanFactory beanFactory) {
		if (!ClassUtils.isPresent(CAFFEINE, NearCaches.class.getClassLoader())) {
			throw new IdempotencyConfigurationException(
					"idempotency.near-cache.enabled is true, but Caffeine, which comes with the starter, was excluded",
					"Add com.github.ben-manes.caffeine:caffeine, or set idempotency.near-cache.enabled to false.");
		}
		if (store instanceof NearCacheIdempotencyStore) {
			return store;
		}
		if (store instanceof MemoryIdempotencyStore) {
			logger.warn(
					"idempotency.near-cache.enabled is true, and the store is in memory already: the near cache keeps "
							+ "results twice and saves nothing. Set idempotency.near-cache.enabled to false");
		}
		try {
			// The time of the store is measured behind the cache.
			IdempotencyStore behind = EngineObserver.observed(
					beanFactory.getBeanProvider(EngineObserver.class).getIfUnique(() -> EngineObserver.NONE), store);
			long maxBytes = nearCache.maxSize().toBytes();
			NearCacheMonitor monitor = beanFactory.getBeanProvider(NearCacheMonitor.class).getIfUnique();
			return (monitor != null)
					? new NearCacheIdempotencyStore(behind, maxBytes, nearCache.ttl(), monitor::monitor)
					: new NearCacheIdempotencyStore(behind, maxBytes, nearCache.ttl());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException("idempotency.near-cache.max-size", nearCache.maxSize(),
					"It must have room for one result at least, such as 32MB.");
		}
	}

}
