package io.idempotency.autoconfigure.store;

import java.lang.annotation.Annotation;
import java.util.Arrays;

import io.idempotency.IdempotencyConfigurationException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Finds the connection bean for a store: the bean that is marked for it, else the only
 * bean or the primary bean of its type.
 */
final class StoreConnectionFinder {

	private StoreConnectionFinder() {
	}

	/**
	 * Chooses the bean.
	 * @param <T> the type of the connection
	 * @param beanFactory knows the names of the beans
	 * @param type the type of the connection
	 * @param mark the annotation that marks the one to use
	 * @param all the beans of the type
	 * @return the connection
	 */
	static <T> T choose(ListableBeanFactory beanFactory, Class<T> type, Class<? extends Annotation> mark,
			ObjectProvider<T> marked, ObjectProvider<T> all) {
		T chosen = choose(marked, all);
		if (chosen != null) {
			return chosen;
		}
		String[] names = beanFactory.getBeanNamesForType(type);
		Arrays.sort(names);
		throw new IdempotencyConfigurationException(
				"There are several beans of type " + type.getName()
						+ ", and which of them keeps idempotency records is not clear: " + Arrays.toString(names),
				"Mark one of them with @" + mark.getSimpleName() + ", or make one @Primary.");
	}

	private static <T> @Nullable T choose(ObjectProvider<T> marked, ObjectProvider<T> all) {
		T chosen = marked.getIfUnique();
		if (chosen == null && marked.stream().findAny().isEmpty()) {
			return all.getIfUnique();
		}
		return chosen;
	}

}
