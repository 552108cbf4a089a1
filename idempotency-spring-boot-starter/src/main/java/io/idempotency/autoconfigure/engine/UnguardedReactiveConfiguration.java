package io.idempotency.autoconfigure.engine;

import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.server.ServerWebExchange;

/** Declares what reactive code injects, for {@code idempotency.enabled=false}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ Mono.class, ServerWebExchange.class, ReactiveIdempotencyTokens.class })
class UnguardedReactiveConfiguration {

	@Bean
	@ConditionalOnMissingBean
	ReactiveIdempotencyTokens reactiveIdempotencyTokens(IdempotencyProperties properties) {
		UnguardedIdempotencyTokens tokens = new UnguardedIdempotencyTokens(properties.token().ttl());
		return (exchange) -> Mono.fromSupplier(tokens::issue).subscribeOn(Schedulers.boundedElastic());
	}

}
