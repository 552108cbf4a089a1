package io.idempotency.autoconfigure;

import java.util.Arrays;
import java.util.List;

import io.idempotency.IdempotencyOptions;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RouteRegistry;
import io.idempotency.interceptor.RequestValues.CurrentRequest;
import io.idempotency.interceptor.InterceptorConfiguration.DefaultStoreFinder;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.key.Caller;
import io.idempotency.web.WebMvcCallerResolver;
import io.idempotency.web.IdempotencyScopeResolver;
import io.idempotency.web.IdempotentRoutes;
import io.idempotency.web.WebMvcConfiguration;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletRequestListener;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.RegistrationBean;
import org.springframework.boot.web.servlet.ServletListenerRegistrationBean;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerAdapter;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.function.support.HandlerFunctionAdapter;
import org.springframework.web.servlet.mvc.HttpRequestHandlerAdapter;
import org.springframework.web.servlet.mvc.SimpleControllerHandlerAdapter;
import org.springframework.web.servlet.mvc.annotation.ResponseStatusExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.ExceptionHandlerExceptionResolver;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerAdapter;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.servlet.mvc.support.DefaultHandlerExceptionResolver;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for idempotent requests: the filter
 * that buffers responses, the adapter of controller methods, and the responses to
 * rejected requests.
 * <p>
 * This configuration comes before the error handling of Spring Boot, because the
 * exception resolver of Spring Boot would treat a replay as an error.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class,
		beforeName = { "org.springframework.boot.autoconfigure.web.servlet.error.ErrorMvcAutoConfiguration",
				"org.springframework.boot.webmvc.autoconfigure.error.ErrorMvcAutoConfiguration" })
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnClass({ DispatcherServlet.class, FilterRegistrationBean.class, WebMvcConfiguration.class })
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@Import({ HttpSettingsConfiguration.class, WebMvcConfiguration.Handlers.class })
public final class IdempotencyWebAutoConfiguration {

	/** The bean with which Spring Boot registers the filter of Spring Security. */
	private static final String SECURITY_FILTER = "securityFilterChainRegistration";

	IdempotencyWebAutoConfiguration() {
	}

	@Bean
	UnidentifiedCallerCheck idempotencyUntoldCallers(ApplicationContext context, HttpSettings settings) {
		return new UnidentifiedCallerCheck(context, settings, "springSecurityFilterChain",
				IdempotencyScopeResolver.class, "io.idempotency.webflux.ReactiveIdempotencyScopeResolver",
				() -> context.getBeanProvider(RequestMappingHandlerMapping.class)
					.stream()
					.flatMap((mapping) -> mapping.getHandlerMethods().values().stream()));
	}

	@Bean
	RouteRegistry idempotencyRouteRegistry(IdempotencyProperties properties, IdempotencyOptions options,
			DefaultStoreFinder stores, ObjectProvider<IdempotentOperationSource> annotated) {
		return new RouteRegistry(options, properties.key().header(), stores.defaultStore(), stores::named,
				annotated::getObject);
	}

	@Bean
	CurrentRequest idempotencyCurrentRequest(WebMvcCallerResolver callers) {
		return new CurrentRequest() {

			@Override
			public RequestValues values() {
				return WebMvcConfiguration.currentValues();
			}

			@Override
			public Caller caller() {
				return callers.current();
			}

			@Override
			public Caller owner(String operation) {
				return callers.currentOwner(operation);
			}

		};
	}

	@Bean
	FilterRegistrationBean<Filter> idempotencyFilter(IdempotencyProperties properties, HttpSettings settings,
			ObjectProvider<IdempotentOperationSource> source, ConfigurableListableBeanFactory beans) {
		boolean lazy = beans.getBeanDefinition("idempotencyFilter").isLazyInit();
		FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>(
				WebMvcConfiguration.filter(settings, source, lazy));
		filter.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR,
				DispatcherType.FORWARD);
		filter.setOrder(properties.http().filterOrder());
		return filter;
	}

	/** Rejects a filter that comes before the one of Spring Security. */
	@Bean
	SmartInitializingSingleton idempotencyFilterOrderCheck(IdempotencyProperties properties, BeanFactory beanFactory) {
		int order = properties.http().filterOrder();
		return () -> {
			if (beanFactory.containsBean(SECURITY_FILTER)
					&& beanFactory.getBean(SECURITY_FILTER) instanceof RegistrationBean security && security.isEnabled()
					&& order <= security.getOrder()) {
				throw new InvalidConfigurationPropertyValueException("idempotency.http.filter-order", order,
						"It must be greater than the order of Spring Security's filter (" + security.getOrder()
								+ "). Otherwise responses of Spring Security are treated as responses of the "
								+ "handler.");
			}
		};
	}

	@Bean
	ServletListenerRegistrationBean<ServletRequestListener> idempotencyRequestListener() {
		return new ServletListenerRegistrationBean<>(WebMvcConfiguration.requestListener());
	}

	@Bean
	static DispatcherDefaultsKeeper idempotencyDispatcherDefaults() {
		return new DispatcherDefaultsKeeper();
	}

	/** Declares the guard of routes, unless the application has one. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(IdempotentRoutes.class)
	@Import(WebMvcConfiguration.Routes.class)
	static class RoutesConfiguration {

	}

	/** Declares the endpoint that issues tokens, if it is enabled. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty("idempotency.token.enabled")
	@Import(WebMvcConfiguration.Tokens.class)
	static class TokenEndpointConfiguration {

	}

	/**
	 * Keeps the default strategies of a dispatcher that is not configured otherwise. Such
	 * a dispatcher uses its defaults only if no bean of a kind exists, so the library's
	 * beans would replace them. Spring Boot and {@code @EnableWebMvc} configure other
	 * strategies.
	 */
	static final class DispatcherDefaultsKeeper implements BeanDefinitionRegistryPostProcessor {

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
			String[] names = BeanFactoryUtils.beanNamesForTypeIncludingAncestors((ListableBeanFactory) registry, type,
					true, false);
			if (Arrays.stream(names).allMatch((name) -> name.startsWith("idempotency"))) {
				defaults
					.forEach((each) -> registry.registerBeanDefinition(each.getName(), new RootBeanDefinition(each)));
			}
		}

	}

}
