package io.idempotency.autoconfigure;

import com.github.benmanes.caffeine.cache.Cache;

/** Reads the statistics of the near cache. */
@FunctionalInterface
interface NearCacheMonitor {

	void monitor(Cache<?, ?> cache);

}
