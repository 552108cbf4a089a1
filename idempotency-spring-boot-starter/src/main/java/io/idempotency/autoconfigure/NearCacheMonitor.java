package io.idempotency.autoconfigure;

import io.idempotency.Internal;
import com.github.benmanes.caffeine.cache.Cache;

/**
 * Reads the statistics of the near cache.
 *
 * @hidden
 */
@Internal
@FunctionalInterface
public interface NearCacheMonitor {

	void monitor(Cache<?, ?> cache);

}
