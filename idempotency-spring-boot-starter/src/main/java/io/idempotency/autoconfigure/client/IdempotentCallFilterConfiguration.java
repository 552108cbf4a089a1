package io.idempotency.autoconfigure.client;

import io.idempotency.client.IdempotentCallFilter;
import io.idempotency.client.IdempotentCalls;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.reactive.function.client.ExchangeFilterFunction;

/** Configures the filter for WebClient. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ ExchangeFilterFunction.class, Mono.class })
class IdempotentCallFilterConfiguration {

	@Bean
	@ConditionalOnMissingBean
	IdempotentCallFilter idempotentCallFilter(IdempotentCalls calls) {
		return new IdempotentCallFilter(calls);
	}

}
