package io.idempotency.interceptor;

import java.util.Map;
import java.util.TreeSet;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import io.idempotency.store.IdempotencyStore;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

/**
 * Finds the default store: the only store, the primary store, or the store named
 * {@value #DEFAULT_NAME}.
 *
 * @hidden
 */
@Internal
public final class DefaultStoreFinder {

	static final String DEFAULT_NAME = "idempotencyStore";

	private final ListableBeanFactory beanFactory;

	private final SingletonSupplier<IdempotencyStore> defaultStore;

	public DefaultStoreFinder(ListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.defaultStore = SingletonSupplier.of(this::find);
	}

	public IdempotencyStore defaultStore() {
		return this.defaultStore.obtain();
	}

	/**
	 * Finds a store by the name of its bean.
	 * @throws IllegalArgumentException if there is none
	 */
	public IdempotencyStore named(String name) {
		IdempotencyStore store = this.beanFactory.getBeansOfType(IdempotencyStore.class).get(name);
		if (store == null) {
			throw new IllegalArgumentException("'" + name + "' is not a bean of type IdempotencyStore");
		}
		return store;
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
				"The application has several stores, but no default store: " + new TreeSet<>(stores.keySet()),
				"Annotate one of them with @Primary or name it '" + DEFAULT_NAME + "'. Select the others with the "
						+ "attribute 'store' of @Idempotent.");
	}

}
