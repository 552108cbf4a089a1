package io.idempotency.web;

import java.io.IOException;

import io.idempotency.IdempotencyTokens;
import io.idempotency.Internal;
import io.idempotency.codec.ResultCodec;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RouteRegistry;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.MethodAdapter.OperationFingerprinter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.RequestValues;
import io.idempotency.key.Namespace;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletRequestListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.Ordered;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/**
 * Declares the beans that guard Spring MVC handlers. The starter imports the nested
 * configurations and registers the filter and the listener with the server.
 *
 * @hidden
 */
@Internal
public final class WebMvcConfiguration {

	private WebMvcConfiguration() {
	}

	/**
	 * Creates the filter, which must be registered for the dispatcher types REQUEST,
	 * ASYNC, ERROR and FORWARD.
	 * @param source provides the operations at the first request, because filters are
	 * created before the beans that operations may refer to
	 * @param lazy whether beans are created lazily, so that any handler may create a
	 * guarded bean
	 */
	public static Filter filter(HttpSettings settings, ObjectProvider<IdempotentOperationSource> source, boolean lazy) {
		return new IdempotencyFilter(settings, SingletonSupplier.of(() -> source.getObject())::obtain, lazy);
	}

	/** Creates the listener that reports the end of each request. */
	public static ServletRequestListener requestListener() {
		return new IdempotencyFilter.RequestListener();
	}

	/**
	 * Returns the values of the request that the current thread handles,
	 * {@link RequestValues#NONE} outside a request.
	 */
	public static RequestValues currentValues() {
		return HttpRequestValues.current();
	}

	/**
	 * Declares the beans that guard controller methods.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static final class Handlers {

		@Bean
		WebMvcCallerResolver idempotencyHttpCallers(HttpSettings settings,
				ObjectProvider<IdempotencyScopeResolver> resolver) {
			return new WebMvcCallerResolver(settings, resolver.getIfAvailable());
		}

		@Bean
		WebMvcAdapter idempotencyWebMvcAdapter(IdempotencyEngine engine, OperationKeyReader keys, ResultCodec codec,
				WebMvcCallerResolver callers, HttpSettings settings) {
			return new WebMvcAdapter(engine, keys, new OperationFingerprinter(codec), callers, settings);
		}

		@Bean
		EarlyReplay idempotencyEarlyReplay(IdempotencyEngine engine, OperationKeyReader keys,
				WebMvcCallerResolver callers, HttpSettings settings, ObjectProvider<Namespace> namespace,
				ObjectProvider<IdempotentOperationSource> source) {
			return new EarlyReplay(engine, keys, callers, settings, namespace.getIfAvailable(() -> Namespace.NONE),
					SingletonSupplier.of(() -> source.getObject())::obtain);
		}

		/** Registers the interceptor after all interceptors of the application. */
		@Bean
		WebMvcConfigurer idempotencyInterceptors(ObjectProvider<EarlyReplay> replay) {
			// Interceptors are created before the beans that operations may refer to.
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

	}

	/**
	 * Declares the guard of functional routes.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static final class Routes {

		@Bean
		IdempotentRoutes idempotentRoutes(RouteRegistry routes, WebMvcAdapter door, IdempotencyProblemResolver problems,
				ObjectProvider<Namespace> namespace) {
			return new IdempotentRoutes(routes, door, problems, namespace.getIfAvailable(() -> Namespace.NONE));
		}

	}

	/**
	 * Declares the endpoint that issues tokens.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static final class Tokens {

		@Bean
		TokenEndpoint idempotencyTokenEndpoint(IdempotencyTokens tokens, WebMvcCallerResolver callers) {
			return new TokenEndpoint(tokens, callers);
		}

		// This bean is never lazy, because no other bean depends on it.
		@Bean
		@Lazy(false)
		SmartInitializingSingleton idempotencyTokenEndpointRegistration(TokenEndpoint endpoint, HttpSettings settings,
				@Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mapping) {
			return () -> endpoint.register(mapping, settings.tokenPath());
		}

	}

}
