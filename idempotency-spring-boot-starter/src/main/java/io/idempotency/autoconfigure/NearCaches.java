package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.ClassUtils;

/** Puts the near cache in front of a store. */
final class NearCaches {

	private static final String CAFFEINE = "com.github.benmanes.caffeine.cache.Caffeine";

	private NearCaches() {
	}

	static IdempotencyStore before(IdempotencyStore store, IdempotencyProperties.NearCache nearCache) {
		if (!ClassUtils.isPresent(CAFFEINE, NearCaches.class.getClassLoader())) {
			throw new IdempotencyConfigurationException(
					"idempotency.near-cache.enabled is true, but Caffeine, which comes with the starter, was excluded",
					"Add com.github.ben-manes.caffeine:caffeine, or set idempotency.near-cache.enabled to false.");
		}
		if (store instanceof NearCacheIdempotencyStore) {
			return store;
		}
		try {
			return new NearCacheIdempotencyStore(store, nearCache.maxSize().toBytes(), nearCache.ttl());
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException("idempotency.near-cache.max-size", nearCache.maxSize(),
					"It must have room for one result at least, such as 32MB.");
		}
	}

}
