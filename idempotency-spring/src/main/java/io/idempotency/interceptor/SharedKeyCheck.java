package io.idempotency.interceptor;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Refuses a second bean of a class whose operations are named after the class: a call of
 * the one bean would be answered with what the other one has done. Several objects of one
 * bean, such as prototypes, are the same bean. Thread-safe.
 */
final class SharedKeyCheck {

	/** The names of beans by the names of their operations. */
	private final Map<String, String> beans = new ConcurrentHashMap<>();

	/**
	 * Checks the operations of a bean.
	 * @param shared those whose keys all beans of the class have in common
	 * @throws io.idempotency.IdempotencyConfigurationException if another bean has them,
	 * too
	 */
	void check(String beanName, Collection<IdempotentOperation> shared, ConfigurableListableBeanFactory beanFactory) {
		for (IdempotentOperation operation : shared) {
			String other = this.beans.merge(operation.name(), beanName,
					(known, added) -> beanFactory.containsBeanDefinition(known) ? known : added);
			if (!other.equals(beanName)) {
				throw operation.problem(
						"the beans '" + other + "' and '" + beanName
								+ "' have the same keys, so a call to one would return the result of the other",
						"Set scope to a value that distinguishes them, e.g. scope = \"target.name\" for a bean "
								+ "property, or use a separate class for each bean. To share the keys "
								+ "intentionally, set scope to a constant, e.g. scope = \"'payments'\", or set "
								+ "operation");
			}
		}
	}

}
