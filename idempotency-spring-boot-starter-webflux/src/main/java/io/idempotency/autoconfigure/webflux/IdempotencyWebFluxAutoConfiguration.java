package io.idempotency.autoconfigure.webflux;

import io.idempotency.IdempotencyOptions;
import io.idempotency.interceptor.IdempotentOperationSource;
import io.idempotency.interceptor.OperationFingerprinter;
import io.idempotency.interceptor.OperationKeyReader;
import io.idempotency.interceptor.SubscribedTransactions;
import io.idempotency.autoconfigure.DefaultStoreFinder;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.HttpSettingsConfiguration;
import io.idempotency.autoconfigure.UntoldCallerCheck;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RouteRegistry;
import io.idempotency.key.Namespace;
import io.idempotency.codec.ResultCodec;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.webflux.GuardedHandlerAdapter;
import io.idempotency.webflux.IdempotentRoutes;
import io.idempotency.webflux.ReactiveIdempotencyScopeResolver;
import io.idempotency.webflux.ReactiveProblemHandler;
import io.idempotency.webflux.WebFluxCallerResolver;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import io.idempotency.webflux.WebFluxDoor;
import io.idempotency.webflux.WebFluxTokenEndpoint;
import io.idempotency.webflux.WebFluxTokens;

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
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.annotation.Order;
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for idempotent requests of WebFlux:
 * the adapter that claims calls of handlers, their door, and the answers to refused
 * requests.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(DispatcherHandler.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@Import(HttpSettingsConfiguration.class)
public final class IdempotencyWebFluxAutoConfiguration {

	/** The filter bean of Spring Security. */
	private static final String SECURITY_FILTER = "org.springframework.security.config.annotation.web.reactive."
			+ "WebFluxSecurityConfiguration.WebFilterChainFilter";

	IdempotencyWebFluxAutoConfiguration() {
	}

	@Bean
	WebFluxCallerResolver idempotencyWebFluxCallers(HttpSettings settings,
			ObjectProvider<ReactiveIdempotencyScopeResolver> resolver) {
		return new WebFluxCallerResolver(settings, resolver.getIfAvailable());
	}

	@Bean
	UntoldCallerCheck idempotencyUntoldCallers(ApplicationContext context, HttpSettings settings) {
		return new UntoldCallerCheck(context, settings, SECURITY_FILTER, ReactiveIdempotencyScopeResolver.class,
				"io.idempotency.web.IdempotencyScopeResolver",
				() -> context.getBeanProvider(RequestMappingHandlerMapping.class)
					.stream()
					.flatMap((mapping) -> mapping.getHandlerMethods().values().stream()));
	}

	@Bean
	@ConditionalOnMissingBean
	ReactiveIdempotencyTokens reactiveIdempotencyTokens(ReactiveIdempotencyEngine engine, DefaultStoreFinder stores,
			IdempotencyProperties properties, WebFluxCallerResolver callers, ObjectProvider<Namespace> namespace) {
		return new WebFluxTokens(() -> engine.store(stores.defaultStore()), properties.token().ttl(), callers,
				namespace.getIfAvailable(() -> Namespace.NONE));
	}

	@Bean
	WebFluxDoor idempotencyWebFluxDoor(ObjectProvider<ReactiveIdempotencyEngine> engine,
			ConfigurableListableBeanFactory beanFactory, IdempotencyProperties properties) {
		return new WebFluxDoor(engine::getObject, new SubscribedTransactions(beanFactory, properties.storeTimeout()));
	}

	/** Comes before the handler of Spring Boot, which has the order -1. */
	@Bean
	@Order(-2)
	ReactiveProblemHandler idempotencyReactiveProblems(HttpSettings settings, ApplicationContext context) {
		return new ReactiveProblemHandler(settings.problemTypeBase(), context);
	}

	@Bean
	GuardedHandlerAdapter idempotencyGuardedHandlerAdapter(ReactiveIdempotencyEngine engine, OperationKeyReader keys,
			ResultCodec codec, WebFluxCallerResolver callers, HttpSettings settings,
			ObjectProvider<Namespace> namespace, IdempotencyProperties properties, ReactiveProblemHandler problems,
			ObjectProvider<IdempotentOperationSource> operations, ApplicationContext context) {
		return new GuardedHandlerAdapter(engine, keys, new OperationFingerprinter(codec), callers, settings,
				namespace.getIfAvailable(() -> Namespace.NONE),
				OnDisconnect.valueOf(properties.http().onDisconnect().name()), problems, operations, context);
	}

	@Bean
	RouteRegistry idempotencyRouteRegistry(IdempotencyProperties properties, IdempotencyOptions options,
			DefaultStoreFinder stores, ObjectProvider<IdempotentOperationSource> annotated) {
		return new RouteRegistry(options, properties.key().header(), stores.defaultStore(), stores::named,
				annotated::getObject);
	}

	@Bean
	@ConditionalOnMissingBean
	IdempotentRoutes idempotentRoutes(RouteRegistry routes, GuardedHandlerAdapter guard) {
		return new IdempotentRoutes(routes, guard);
	}

	/** Declares the endpoint that issues tokens, if it is enabled. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty("idempotency.token.enabled")
	static class TokenEndpointConfiguration {

		@Bean
		WebFluxTokenEndpoint idempotencyTokenEndpoint(ReactiveIdempotencyTokens tokens,
				ReactiveProblemHandler problems) {
			return new WebFluxTokenEndpoint(tokens, problems);
		}

		// This bean is never lazy, because no other bean asks for it.
		@Bean
		@Lazy(false)
		SmartInitializingSingleton idempotencyTokenEndpointRegistration(WebFluxTokenEndpoint endpoint,
				IdempotencyProperties properties,
				@Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mapping) {
			return () -> endpoint.register(mapping, properties.token().path());
		}

	}

}
