package io.idempotency.webflux;

import java.time.Duration;
import java.util.function.Supplier;

import io.idempotency.Internal;
import io.idempotency.codec.ResultCodec;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RouteRegistry;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.MethodAdapter.OperationFingerprinter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.SubscribedTransactions;
import io.idempotency.key.Namespace;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.store.IdempotencyStore;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.annotation.Order;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.web.reactive.result.method.RequestMappingInfoHandlerMapping;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.WebExceptionHandler;

/**
 * Declares the beans that guard WebFlux handlers. The starter imports the nested
 * configurations and declares the {@link Settings}.
 *
 * @hidden
 */
@Internal
public final class WebFluxConfiguration {

	private WebFluxConfiguration() {
	}

	/**
	 * The settings that only WebFlux needs.
	 *
	 * @param onDisconnect what happens to the work when the client disconnects
	 * @param tokenStore supplies the store of the tokens
	 * @param tokenTtl how long a token may be used
	 * @hidden
	 */
	public record Settings(OnDisconnect onDisconnect, Supplier<IdempotencyStore> tokenStore, Duration tokenTtl) {
	}

	/**
	 * Declares the beans that guard controller methods.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static final class Handlers {

		@Bean
		WebFluxCallerResolver idempotencyWebFluxCallers(HttpSettings settings,
				ObjectProvider<ReactiveIdempotencyScopeResolver> resolver) {
			return new WebFluxCallerResolver(settings, resolver.getIfAvailable());
		}

		@Bean
		WebFluxAdapter idempotencyWebFluxAdapter(ObjectProvider<ReactiveIdempotencyEngine> engine,
				SubscribedTransactions transactions, ObjectProvider<HandlerGuard> guard) {
			return new WebFluxAdapter(engine::getObject, transactions, guard::getObject);
		}

		@Bean
		WebFluxRequests idempotencyWebFluxRequests(WebFluxCallerResolver callers, HttpSettings settings) {
			return new WebFluxRequests(callers, settings);
		}

		/** Comes before the handler of Spring Boot, which has the order -1. */
		@Bean
		@Order(-2)
		ReactiveProblemHandler idempotencyReactiveProblems(HttpSettings settings, ApplicationContext context) {
			return new ReactiveProblemHandler(settings.problemTypeBase(), context);
		}

		@Bean
		HandlerGuard idempotencyHandlerGuard(ReactiveIdempotencyEngine engine, OperationKeyReader keys,
				ResultCodec codec, WebFluxCallerResolver callers, HttpSettings http, Settings settings,
				ReactiveProblemHandler problems) {
			return new HandlerGuard(engine, keys, new OperationFingerprinter(codec), callers, http,
					settings.onDisconnect(), problems);
		}

		@Bean
		IdempotencyWebFilter idempotencyWebFilter(HttpSettings http, Settings settings,
				ObjectProvider<IdempotentOperationSource> operations, ObjectProvider<RouteRegistry> routes,
				ObjectProvider<RequestMappingInfoHandlerMapping> mappings,
				ObjectProvider<WebExceptionHandler> exceptionHandlers, ObjectProvider<ServerCodecConfigurer> codecs) {
			return new IdempotencyWebFilter(http, SingletonSupplier.of(() -> operations.getObject())::obtain,
					() -> routes.stream().anyMatch((registry) -> !registry.operations().isEmpty()),
					SingletonSupplier.of(() -> mappings.orderedStream().toList())::obtain,
					SingletonSupplier.of(() -> new GuardedExchange.Spring(exceptionHandlers.orderedStream().toList(),
							codecs.getObject().getReaders()))::obtain);
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
		IdempotentRoutes idempotentRoutes(RouteRegistry routes, HandlerGuard guard,
				ObjectProvider<Namespace> namespace) {
			return new IdempotentRoutes(routes, guard, namespace.getIfAvailable(() -> Namespace.NONE));
		}

	}

	/**
	 * Declares the issuer of tokens.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static final class Tokens {

		@Bean
		ReactiveIdempotencyTokens reactiveIdempotencyTokens(ReactiveIdempotencyEngine engine, Settings settings,
				WebFluxCallerResolver callers, ObjectProvider<Namespace> namespace) {
			return new WebFluxTokens(() -> engine.store(settings.tokenStore().get()), settings.tokenTtl(), callers,
					namespace.getIfAvailable(() -> Namespace.NONE));
		}

	}

	/**
	 * Declares the endpoint that issues tokens.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static final class TokenEndpoint {

		@Bean
		WebFluxTokenEndpoint idempotencyTokenEndpoint(ReactiveIdempotencyTokens tokens,
				ReactiveProblemHandler problems) {
			return new WebFluxTokenEndpoint(tokens, problems);
		}

		// This bean is never lazy, because no other bean depends on it.
		@Bean
		@Lazy(false)
		SmartInitializingSingleton idempotencyTokenEndpointRegistration(WebFluxTokenEndpoint endpoint,
				HttpSettings settings,
				@Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mapping) {
			return () -> endpoint.register(mapping, settings.tokenPath());
		}

	}

}
