package io.idempotency.autoconfigure;

import java.util.Map;
import java.util.TreeSet;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.store.IdempotencyStore;

import org.springframework.beans.factory.ListableBeanFactory;
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

	private final ListableBeanFactory beanFactory;

	private final SingletonSupplier<IdempotencyStore> defaultStore;

	public DefaultStoreFinder(ListableBeanFactory beanFactory, IdempotencyProperties.NearCache nearCache) {
		this.beanFactory = beanFactory;
		this.defaultStore = SingletonSupplier.of(() -> {
			IdempotencyStore store = find();
			return nearCache.enabled() ? NearCaches.before(store, nearCache, beanFactory) : store;
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

}
