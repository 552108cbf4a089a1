package io.idempotency.autoconfigure.webflux;

import io.idempotency.IdempotencyOptions;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.interceptor.InterceptorConfiguration.DefaultStoreFinder;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.HttpSettingsConfiguration;
import io.idempotency.autoconfigure.UnidentifiedCallerCheck;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.RouteRegistry;
import io.idempotency.reactor.OnDisconnect;
import io.idempotency.webflux.IdempotentRoutes;
import io.idempotency.webflux.ReactiveIdempotencyScopeResolver;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import io.idempotency.webflux.WebFluxConfiguration;

import org.springframework.beans.factory.ObjectProvider;
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
import org.springframework.web.reactive.DispatcherHandler;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for idempotent requests on WebFlux:
 * the adapter that claims handler calls, and the responses to rejected requests.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(DispatcherHandler.class)
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@Import({ HttpSettingsConfiguration.class, WebFluxConfiguration.Handlers.class })
public final class IdempotencyWebFluxAutoConfiguration {

	/** The filter bean of Spring Security. */
	private static final String SECURITY_FILTER = "org.springframework.security.config.annotation.web.reactive."
			+ "WebFluxSecurityConfiguration.WebFilterChainFilter";

	IdempotencyWebFluxAutoConfiguration() {
	}

	@Bean
	UnidentifiedCallerCheck idempotencyUntoldCallers(ApplicationContext context, HttpSettings settings) {
		return new UnidentifiedCallerCheck(context, settings, SECURITY_FILTER, ReactiveIdempotencyScopeResolver.class,
				"io.idempotency.web.IdempotencyScopeResolver",
				() -> context.getBeanProvider(RequestMappingHandlerMapping.class)
					.stream()
					.flatMap((mapping) -> mapping.getHandlerMethods().values().stream()));
	}

	@Bean
	WebFluxConfiguration.Settings idempotencyWebFluxSettings(IdempotencyProperties properties,
			DefaultStoreFinder stores) {
		return new WebFluxConfiguration.Settings(OnDisconnect.valueOf(properties.http().onDisconnect().name()),
				stores::defaultStore, properties.token().ttl());
	}

	@Bean
	RouteRegistry idempotencyRouteRegistry(IdempotencyProperties properties, IdempotencyOptions options,
			DefaultStoreFinder stores, ObjectProvider<IdempotentOperationSource> annotated) {
		return new RouteRegistry(options, properties.key().header(), stores.defaultStore(), stores::named,
				annotated::getObject);
	}

	/** Declares the guard of routes, unless the application has one. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(IdempotentRoutes.class)
	@Import(WebFluxConfiguration.Routes.class)
	static class RoutesConfiguration {

	}

	/** Declares the issuer of tokens, unless the application has one. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnMissingBean(ReactiveIdempotencyTokens.class)
	@Import(WebFluxConfiguration.Tokens.class)
	static class TokensConfiguration {

	}

	/** Declares the endpoint that issues tokens, if it is enabled. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnProperty("idempotency.token.enabled")
	@Import(WebFluxConfiguration.TokenEndpoint.class)
	static class TokenEndpointConfiguration {

	}

}
