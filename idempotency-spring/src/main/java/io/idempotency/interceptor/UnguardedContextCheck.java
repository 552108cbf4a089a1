package io.idempotency.interceptor;

import java.lang.reflect.Modifier;

import io.idempotency.IdempotencyConfigurationException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.BeansException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.event.ContextRefreshedEvent;

/**
 * Rejects contexts above and below the context of the guard, such as that of a second
 * {@code DispatcherServlet}, whose beans are annotated but not guarded: a post-processor
 * processes only the beans of its own context. A child context notifies its parents when
 * it is refreshed, and its startup fails if they throw an exception. If the beans are in
 * a parent, which started earlier, the startup of the child fails. Stateless.
 */
final class UnguardedContextCheck implements ApplicationListener<ContextRefreshedEvent> {

	private static final Logger logger = LoggerFactory.getLogger(UnguardedContextCheck.class);

	private static final String ACTION = "Add @Import(io.idempotency.autoconfigure.IdempotencyGuardConfiguration.class) "
			+ "to a configuration of that context";

	@Override
	public void onApplicationEvent(ContextRefreshedEvent event) {
		ApplicationContext refreshed = event.getApplicationContext();
		check(refreshed, ACTION);
		for (ApplicationContext parent = refreshed.getParent(); parent != null; parent = parent.getParent()) {
			check(parent, "Declare the bean in a context with a guard, e.g. in its child context ("
					+ refreshed.getDisplayName() + "), or add the auto-configuration to its context");
		}
	}

	private static void check(ApplicationContext checked, String action) {
		if (!(checked instanceof ConfigurableApplicationContext context) || isGuarded(context.getBeanFactory())) {
			return;
		}
		GuardedClassCheck check = new GuardedClassCheck();
		for (String name : context.getBeanDefinitionNames()) {
			Class<?> type = type(context.getBeanFactory(), name);
			if (type != null && !Modifier.isAbstract(type.getModifiers()) && check.isGuarded(type)) {
				throw new IdempotencyConfigurationException(
						"@Idempotent on '" + type.getName() + "': its bean is in a separate context ("
								+ context.getDisplayName() + ") without a guard, so its calls would run unguarded",
						action);
			}
		}
	}

	private static boolean isGuarded(ConfigurableListableBeanFactory beans) {
		return beans instanceof AbstractBeanFactory factory
				&& factory.getBeanPostProcessors().stream().anyMatch(IdempotentPostProcessor.class::isInstance);
	}

	private static @Nullable Class<?> type(ConfigurableListableBeanFactory beans, String name) {
		try {
			return beans.getMergedBeanDefinition(name).isAbstract() ? null : beans.getType(name, false);
		}
		catch (BeansException | IllegalStateException | LinkageError ex) {
			// A bean that is never created may refer to missing classes.
			logger.debug("The class of the bean '{}' cannot be read", name, ex);
			return null;
		}
	}

}
