package io.idempotency.autoconfigure.engine;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/**
 * Declares the engine of the calls that must not block. It is made by the first door that
 * asks for it, so an application that merely has Reactor on its class path has neither
 * the engine nor a thread of it. Its calls end with the close of the other engine, which
 * it depends on.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(Mono.class)
class ReactiveEngineConfiguration {

	@Bean(destroyMethod = "close")
	@Lazy
	@ConditionalOnMissingBean
	ReactiveIdempotencyEngine reactiveIdempotencyEngine(IdempotencyEngine engine,
			ObjectProvider<ReactiveIdempotencyStore> stores) {
		return new ReactiveIdempotencyEngine(engine, stores.stream().toList());
	}

}
