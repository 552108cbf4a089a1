package io.idempotency.autoconfigure.engine;

import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.http.ReactiveProblemHandler;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.web.reactive.DispatcherHandler;

/**
 * Declares the answers to refused calls of beans behind controllers of WebFlux, which no
 * door guards themselves.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
@ConditionalOnClass(DispatcherHandler.class)
class ReactiveProblemConfiguration {

	/** Comes before the handler of Spring Boot, which has the order -1. */
	@Bean
	@Order(-2)
	ReactiveProblemHandler idempotencyReactiveProblemHandler(IdempotencyProperties properties) {
		return new ReactiveProblemHandler(properties.http().problemTypeBase());
	}

}
