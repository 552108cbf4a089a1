package io.idempotency.autoconfigure.engine;

import java.lang.reflect.Type;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.reactor.ReactiveIdempotencyTemplate;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.server.ServerWebExchange;

/** Declares what reactive code injects, for {@code idempotency.enabled=false}. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ Mono.class, ReactiveIdempotencyTemplate.class })
class UnguardedReactiveConfiguration {

	@Bean
	@ConditionalOnMissingBean
	ReactiveIdempotencyTemplate reactiveIdempotencyTemplate() {
		return new ReactiveIdempotencyTemplate() {

			@Override
			public <T> Mono<T> call(String operation, Consumer<? super IdempotencyTemplate.Call> description, Type type,
					Supplier<? extends Publisher<? extends T>> action) {
				return Mono.defer(() -> Flux.<T>from(action.get()).singleOrEmpty());
			}

		};
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass({ ServerWebExchange.class, ReactiveIdempotencyTokens.class })
	static class Tokens {

		@Bean
		@ConditionalOnMissingBean
		ReactiveIdempotencyTokens reactiveIdempotencyTokens(IdempotencyProperties properties) {
			UnguardedIdempotencyTokens tokens = new UnguardedIdempotencyTokens(properties.token().ttl());
			return (exchange) -> Mono.fromSupplier(tokens::issue).subscribeOn(Schedulers.boundedElastic());
		}

	}

}
