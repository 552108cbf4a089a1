package io.idempotency.autoconfigure;

import java.lang.annotation.Annotation;
import java.util.Arrays;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Internal;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.BeanWrapper;
import org.springframework.beans.PropertyAccessorFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Finds the connection bean for a store: the bean that is marked for it, else the only
 * bean or the primary bean of its type.
 *
 * @hidden
 */
@Internal
public final class StoreConnectionFinder {

	private StoreConnectionFinder() {
	}

	/**
	 * Chooses the bean, and rejects one that chooses a database for each connection
	 * unless it is marked: claims are renewed, and futures complete, on other threads
	 * than that of the call.
	 * @param <T> the type of the connection
	 * @param beanFactory returns the names of the beans
	 * @param type the type of the connection
	 * @param mark the annotation that marks the one to use
	 * @param all the beans of the type
	 * @param routes returns whether a bean chooses a database for each connection
	 * @return the connection
	 */
	public static <T> T choose(ListableBeanFactory beanFactory, Class<T> type, Class<? extends Annotation> mark,
			ObjectProvider<T> marked, ObjectProvider<T> all, Predicate<T> routes) {
		T chosen = choose(marked, all);
		if (chosen != null && marked.getIfUnique() == null && routes.test(chosen)) {
			throw routed(type, chosen, mark);
		}
		if (chosen != null) {
			return chosen;
		}
		String[] names = beanFactory.getBeanNamesForType(type);
		Arrays.sort(names);
		throw new IdempotencyConfigurationException(
				"The application has several beans of type " + type.getName() + ", and none is selected for "
						+ "idempotency records: " + Arrays.toString(names),
				"Annotate one of them with @" + mark.getSimpleName() + " or @Primary.");
	}

	/**
	 * Describes a connection bean by its name and its URL, as far as they are known. The
	 * URL has no user, password or parameters.
	 * @param <T> the type of the connection
	 */
	public static <T> String describe(ListableBeanFactory beanFactory, Class<T> type, T chosen) {
		String name = beanFactory.getBeansOfType(type, false, false)
			.entrySet()
			.stream()
			.filter((bean) -> bean.getValue() == chosen)
			.map((bean) -> " '" + bean.getKey() + "'")
			.findFirst()
			.orElse("");
		BeanWrapper properties = PropertyAccessorFactory.forBeanPropertyAccess(chosen);
		String url = Stream.of("jdbcUrl", "url", "URL")
			.filter(properties::isReadableProperty)
			.map((property) -> String.valueOf(properties.getPropertyValue(property)))
			.map((text) -> " (" + text.replaceAll("[?;].*", "").replaceAll("//[^/]*@", "//") + ")")
			.findFirst()
			.orElse("");
		return "The " + type.getSimpleName() + name + url;
	}

	private static <T> @Nullable T choose(ObjectProvider<T> marked, ObjectProvider<T> all) {
		T chosen = marked.getIfUnique();
		if (chosen == null && marked.stream().findAny().isEmpty()) {
			return all.getIfUnique();
		}
		return chosen;
	}

	private static IdempotencyConfigurationException routed(Class<?> type, Object routing,
			Class<? extends Annotation> mark) {
		return new IdempotencyConfigurationException("The " + type.getSimpleName() + " of the idempotency records, "
				+ routing.getClass().getName()
				+ ", selects a database for each connection, possibly by thread or subscriber. Claims are renewed "
				+ "and completed on other threads, which could use a different database, so calls would run twice",
				"Annotate a " + type.getSimpleName() + " of one fixed database with @" + mark.getSimpleName()
						+ ", and make the tenant part of the caller. If the routing bean selects the same database "
						+ "for all calls, e.g. because it only sends read-only transactions to a replica, "
						+ "annotate it or set idempotency.jdbc.pool-size to 0.");
	}

}
