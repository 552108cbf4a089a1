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
								+ "' share its keys, so that they would answer for each other",
						"Set scope to what tells them apart, e.g. scope = \"target.name\" for a property of the bean, or "
								+ "give each bean a class of its own. Where a call of one bean is meant to count for the "
								+ "other, set scope to one text, e.g. scope = \"'payments'\", or name the operation");
			}
		}
	}

}
