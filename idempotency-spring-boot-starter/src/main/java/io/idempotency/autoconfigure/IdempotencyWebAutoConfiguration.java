package io.idempotency.autoconfigure;

import java.io.IOException;

import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyTokens;
import io.idempotency.interceptor.IdempotentOperationSource;
import io.idempotency.interceptor.OperationFingerprinter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RouteRegistry;
import io.idempotency.key.Caller;
import io.idempotency.key.Namespace;
import io.idempotency.codec.ResultCodec;
import io.idempotency.web.EarlyReplay;
import io.idempotency.web.HttpCallerResolver;
import io.idempotency.web.HttpDoor;
import io.idempotency.web.HttpRequestValues;
import io.idempotency.web.IdempotencyFilter;
import io.idempotency.web.IdempotencyProblemResolver;
import io.idempotency.web.IdempotencyScopeResolver;
import io.idempotency.web.IdempotentRoutes;
import io.idempotency.web.JoinedHandlerAdapter;
import io.idempotency.web.RememberedFailureResolver;
import io.idempotency.web.ReplayExceptionResolver;
import io.idempotency.web.TokenEndpoint;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
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
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for idempotent requests: the filter
 * that holds answers back, the door of controller methods, and the answers to refused
 * requests.
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
@ConditionalOnClass({ DispatcherServlet.class, FilterRegistrationBean.class, HttpDoor.class })
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@Import(HttpSettingsConfiguration.class)
public final class IdempotencyWebAutoConfiguration {

	/** The bean with which Spring Boot registers the filter of Spring Security. */
	private static final String SECURITY_FILTER = "securityFilterChainRegistration";

	IdempotencyWebAutoConfiguration() {
	}

	@Bean
	HttpCallerResolver idempotencyHttpCallers(HttpSettings settings,
			ObjectProvider<IdempotencyScopeResolver> resolver) {
		return new HttpCallerResolver(settings, resolver.getIfAvailable());
	}

	@Bean
	UntoldCallerCheck idempotencyUntoldCallers(ApplicationContext context, HttpSettings settings) {
		return new UntoldCallerCheck(context, settings, "springSecurityFilterChain", IdempotencyScopeResolver.class,
				"io.idempotency.webflux.ReactiveIdempotencyScopeResolver",
				() -> context.getBeanProvider(RequestMappingHandlerMapping.class)
					.stream()
					.flatMap((mapping) -> mapping.getHandlerMethods().values().stream()));
	}

	@Bean
	HttpDoor idempotencyHttpDoor(IdempotencyEngine engine, OperationKeyReader keys, ResultCodec codec,
			HttpCallerResolver callers, HttpSettings settings) {
		return new HttpDoor(engine, keys, new OperationFingerprinter(codec), callers, settings);
	}

	@Bean
	RouteRegistry idempotencyRouteRegistry(IdempotencyProperties properties, IdempotencyOptions options,
			DefaultStoreFinder stores, ObjectProvider<IdempotentOperationSource> annotated) {
		return new RouteRegistry(options, properties.key().header(), stores.defaultStore(), stores::named,
				annotated::getObject);
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotentRoutes idempotentRoutes(RouteRegistry routes, HttpDoor door, IdempotencyProblemResolver problems,
			ObjectProvider<Namespace> namespace) {
		return new IdempotentRoutes(routes, door, problems, namespace.getIfAvailable(() -> Namespace.NONE));
	}

	@Bean
	EarlyReplay idempotencyEarlyReplay(IdempotencyEngine engine, OperationKeyReader keys, HttpCallerResolver callers,
			HttpSettings settings, ObjectProvider<Namespace> namespace,
			ObjectProvider<IdempotentOperationSource> source, ApplicationContext context) {
		return new EarlyReplay(engine, keys, callers, settings, namespace.getIfAvailable(() -> Namespace.NONE),
				SingletonSupplier.of(() -> source.getObject())::obtain, context);
	}

	/** The order behind all interceptors of the application. */
	@Bean
	WebMvcConfigurer idempotencyInterceptors(ObjectProvider<EarlyReplay> replay) {
		// Interceptors are made before the beans that operations may name.
		SingletonSupplier<EarlyReplay> early = SingletonSupplier.of(() -> replay.getObject());
		HandlerInterceptor interceptor = new HandlerInterceptor() {

			@Override
			public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
					throws IOException {
				return !early.obtain().replays(request, handler);
			}

		};
		return new WebMvcConfigurer() {

			@Override
			public void addInterceptors(InterceptorRegistry registry) {
				registry.addInterceptor(interceptor).order(Ordered.LOWEST_PRECEDENCE);
			}

		};
	}

	@Bean
	CurrentRequest idempotencyCurrentRequest(HttpCallerResolver callers) {
		return new CurrentRequest() {

			@Override
			public RequestValues values() {
				return HttpRequestValues.current();
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
	FilterRegistrationBean<IdempotencyFilter> idempotencyFilter(IdempotencyProperties properties, HttpSettings settings,
			ObjectProvider<IdempotentOperationSource> source, ConfigurableListableBeanFactory beans) {
		// Filters are created with the server, before the beans that operations may name.
		SingletonSupplier<IdempotentOperationSource> operations = SingletonSupplier.of(() -> source.getObject());
		// In an application whose beans are all lazy, any handler may make a guarded
		// bean.
		boolean lazy = beans.getBeanDefinition("idempotencyFilter").isLazyInit();
		FilterRegistrationBean<IdempotencyFilter> filter = new FilterRegistrationBean<>(
				new IdempotencyFilter(settings, operations::obtain, lazy));
		filter.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC, DispatcherType.ERROR,
				DispatcherType.FORWARD);
		filter.setOrder(properties.http().filterOrder());
		return filter;
	}

	/** Refuses a filter that comes before the one of Spring Security. */
	@Bean
	SmartInitializingSingleton idempotencyFilterOrderCheck(IdempotencyProperties properties, BeanFactory beanFactory) {
		int order = properties.http().filterOrder();
		return () -> {
			if (beanFactory.containsBean(SECURITY_FILTER)
					&& beanFactory.getBean(SECURITY_FILTER) instanceof RegistrationBean security && security.isEnabled()
					&& order <= security.getOrder()) {
				throw new InvalidConfigurationPropertyValueException("idempotency.http.filter-order", order,
						"It must be greater than the order of Spring Security's filter (" + security.getOrder()
								+ "), or the answers of Spring Security count as answers of the handler.");
			}
		};
	}

	@Bean
	ServletListenerRegistrationBean<IdempotencyFilter.RequestListener> idempotencyRequestListener() {
		return new ServletListenerRegistrationBean<>(new IdempotencyFilter.RequestListener());
	}

	@Bean
	static DispatcherDefaultsKeeper idempotencyDispatcherDefaults() {
		return new DispatcherDefaultsKeeper();
	}

	@Bean
	JoinedHandlerAdapter idempotencyJoinedHandlerAdapter(ObjectProvider<IdempotentOperationSource> source) {
		return new JoinedHandlerAdapter(SingletonSupplier.of(() -> source.getObject())::obtain);
	}

	@Bean
	ReplayExceptionResolver idempotencyReplayExceptionResolver() {
		return new ReplayExceptionResolver();
	}

	@Bean
	RememberedFailureResolver idempotencyRememberedFailureResolver() {
		return new RememberedFailureResolver();
	}

	@Bean
	IdempotencyProblemResolver idempotencyProblemResolver(ApplicationContext context, HttpSettings settings) {
		return new IdempotencyProblemResolver(context, settings);
	}

	/** Declares the endpoint that issues tokens, if it is enabled. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty("idempotency.token.enabled")
	static class TokenEndpointConfiguration {

		@Bean
		TokenEndpoint idempotencyTokenEndpoint(IdempotencyTokens tokens, HttpCallerResolver callers) {
			return new TokenEndpoint(tokens, callers);
		}

		// This bean is never lazy, because no other bean asks for it.
		@Bean
		@Lazy(false)
		SmartInitializingSingleton idempotencyTokenEndpointRegistration(TokenEndpoint endpoint,
				IdempotencyProperties properties,
				@Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mapping) {
			return () -> endpoint.register(mapping, properties.token().path());
		}

	}

}
