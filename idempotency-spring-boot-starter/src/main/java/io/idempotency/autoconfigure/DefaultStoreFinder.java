package io.idempotency.autoconfigure;

import java.util.Map;
import java.util.TreeSet;

import com.github.benmanes.caffeine.cache.Cache;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.engine.EngineObserver;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.ClassUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds the default store: the only store, the primary store, or the store named
 * {@value #DEFAULT_NAME}. Puts the near cache in front of it, if the near cache is
 * enabled.
 * <p>
 * This is not a post-processor of all stores, for two reasons: the bean keeps its
 * declared type, and one bound holds for all results in the near cache.
 *
 * @hidden
 */
@Internal
public final class DefaultStoreFinder {

	static final String DEFAULT_NAME = "idempotencyStore";

	private static final Logger logger = LoggerFactory.getLogger(DefaultStoreFinder.class);

	private static final String CAFFEINE = "com.github.benmanes.caffeine.cache.Caffeine";

	private final ListableBeanFactory beanFactory;

	private final SingletonSupplier<IdempotencyStore> defaultStore;

	public DefaultStoreFinder(ListableBeanFactory beanFactory, IdempotencyProperties.NearCache nearCache) {
		this.beanFactory = beanFactory;
		this.defaultStore = SingletonSupplier.of(() -> {
			IdempotencyStore store = find();
			return nearCache.enabled() ? nearCached(store, nearCache, beanFactory) : store;
		});
	}

	public IdempotencyStore defaultStore() {
		return this.defaultStore.obtain();
	}

	/**
	 * Finds a store by the name of its bean; the default store comes with its near cache.
	 * @throws IllegalArgumentException if there is none
	 */
	public IdempotencyStore named(String name) {
		IdempotencyStore store = this.beanFactory.getBeansOfType(IdempotencyStore.class).get(name);
		if (store == null) {
			throw new IllegalArgumentException("'" + name + "' is no bean of type IdempotencyStore");
		}
		return (store == find()) ? defaultStore() : store;
	}

	private IdempotencyStore find() {
		IdempotencyStore unique = this.beanFactory.getBeanProvider(IdempotencyStore.class).getIfUnique();
		if (unique != null) {
			return unique;
		}
		Map<String, IdempotencyStore> stores = this.beanFactory.getBeansOfType(IdempotencyStore.class);
		IdempotencyStore named = stores.get(DEFAULT_NAME);
		if (named != null) {
			return named;
		}
		throw new IdempotencyConfigurationException(
				"There are several stores and none of them is the default: " + new TreeSet<>(stores.keySet()),
				"Mark one of them as @Primary or name it '" + DEFAULT_NAME
						+ "'; the others are chosen by the attribute 'store' of @Idempotent.");
	}

	/**
	 * Puts the near cache in front of a store.
	 * @param beanFactory knows who measures the store and who reads the statistics of the
	 * cache, if anybody does
	 */
	private static IdempotencyStore nearCached(IdempotencyStore store, IdempotencyProperties.NearCache nearCache,
			BeanFactory beanFactory) {
		if (!ClassUtils.isPresent(CAFFEINE, DefaultStoreFinder.class.getClassLoader())) {
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

	/**
	 * Reads the statistics of the near cache.
	 *
	 * @hidden
	 */
	@FunctionalInterface
	public interface NearCacheMonitor {

		void monitor(Cache<?, ?> cache);

	}

}
