package io.idempotency.autoconfigure;

import java.util.Map;
import java.util.TreeSet;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.store.IdempotencyStore;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds the store of operations that name none: the only one, the primary one, or the one
 * named {@value #DEFAULT_NAME}; and keeps its results near where that is wanted.
 * <p>
 * Not a post-processor of all stores, because the bean stays what the application
 * declared it as, and there is one bound for all results that are near.
 */
final class IdempotencyStores {

	static final String DEFAULT_NAME = "idempotencyStore";

	private final ListableBeanFactory beanFactory;

	private final SingletonSupplier<IdempotencyStore> defaultStore;

	IdempotencyStores(ListableBeanFactory beanFactory, IdempotencyProperties.NearCache nearCache) {
		this.beanFactory = beanFactory;
		this.defaultStore = SingletonSupplier.of(() -> {
			IdempotencyStore store = find();
			return nearCache.enabled() ? NearCaches.before(store, nearCache) : store;
		});
	}

	IdempotencyStore defaultStore() {
		return this.defaultStore.obtain();
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
