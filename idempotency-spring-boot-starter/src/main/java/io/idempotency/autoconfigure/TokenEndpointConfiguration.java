package io.idempotency.autoconfigure;

import io.idempotency.IdempotencyTokens;
import io.idempotency.web.TokenEndpoint;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.web.servlet.mvc.method.annotation.RequestMappingHandlerMapping;

/** The endpoint that issues tokens, where it is asked for. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnProperty("idempotency.token.enabled")
class TokenEndpointConfiguration {

	@Bean
	TokenEndpoint idempotencyTokenEndpoint(IdempotencyTokens tokens) {
		return new TokenEndpoint(tokens);
	}

	// Nobody asks for it, so it must not be lazy whatever the application says.
	@Bean
	@Lazy(false)
	SmartInitializingSingleton idempotencyTokenEndpointRegistration(TokenEndpoint endpoint,
			IdempotencyProperties properties,
			@Qualifier("requestMappingHandlerMapping") RequestMappingHandlerMapping mapping) {
		return () -> endpoint.register(mapping, properties.token().path());
	}

}
