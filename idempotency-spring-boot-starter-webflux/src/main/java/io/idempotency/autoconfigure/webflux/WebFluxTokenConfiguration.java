package io.idempotency.autoconfigure.webflux;

import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import io.idempotency.webflux.ReactiveProblemHandler;
import io.idempotency.webflux.WebFluxTokenEndpoint;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;

/** Declares the endpoint that issues tokens on WebFlux, if it is enabled. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("idempotency.token.enabled")
class WebFluxTokenConfiguration {

	@Bean
	WebFluxTokenEndpoint idempotencyTokenEndpoint(ReactiveIdempotencyTokens tokens, ReactiveProblemHandler problems) {
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
