package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyTokens;
import io.idempotency.web.HttpCallerResolver;
import io.idempotency.web.TokenEndpoint;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** Declares the endpoint that issues tokens, if it is enabled. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("idempotency.token.enabled")
class TokenEndpointConfiguration {

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
