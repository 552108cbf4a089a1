package io.idempotency.autoconfigure;

import java.util.Arrays;
import java.util.List;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.function.support.HandlerFunctionAdapter;
import org.springframework.web.servlet.mvc.HttpRequestHandlerAdapter;
import org.springframework.web.servlet.mvc.SimpleControllerHandlerAdapter;
import org.springframework.web.servlet.mvc.annotation.ResponseStatusExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.support.DefaultHandlerExceptionResolver;

/**
 * Leaves a dispatcher that nobody configures what it has by default. It takes its
 * defaults only where it finds no bean of a kind, so the library's own beans would take
 * them away. There are others with the configuration of Spring Boot or
 * {@code @EnableWebMvc}.
 */
final class DispatcherDefaultsKeeper implements BeanDefinitionRegistryPostProcessor {

	/** The defaults of {@code DispatcherServlet.properties}. */
	private static final List<Class<? extends HandlerAdapter>> ADAPTERS = List.of(HttpRequestHandlerAdapter.class,
			SimpleControllerHandlerAdapter.class, RequestMappingHandlerAdapter.class, HandlerFunctionAdapter.class);

	private static final List<Class<? extends HandlerExceptionResolver>> RESOLVERS = List.of(
			ExceptionHandlerExceptionResolver.class, ResponseStatusExceptionResolver.class,
			DefaultHandlerExceptionResolver.class);

	@Override
	public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
		register(HandlerAdapter.class, ADAPTERS, registry);
		register(HandlerExceptionResolver.class, RESOLVERS, registry);
	}

	private static <T> void register(Class<T> type, List<Class<? extends T>> defaults,
			BeanDefinitionRegistry registry) {
		String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors((ListableBeanFactory) registry, type, true,
				false);
		if (Arrays.stream(names).allMatch((name) -> name.startsWith("idempotency"))) {
			defaults.forEach((each) -> registry.registerBeanDefinition(each.getName(), new RootBeanDefinition(each)));
		}
	}

}
