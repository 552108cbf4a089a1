package io.idempotency.autoconfigure;

import io.idempotency.interceptor.InterceptorConfiguration.DefaultStoreFinder;
import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Namespace;
import io.idempotency.codec.ResultCodec;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import io.idempotency.reactor.ReactiveIdempotencyTemplate;
import io.idempotency.reactor.ReactiveIdempotencyEngine.SurroundingTransactions;
import io.idempotency.engine.DefaultIdempotencyTemplate;
import io.idempotency.engine.DefaultIdempotencyTemplate.TemplateEnvironment;
import io.idempotency.interceptor.InterceptorConfiguration;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;

/**
 * Declares the engine of the calls that must not block. The first adapter that needs it
 * creates it, so an application that only has Reactor on its class path has neither the
 * engine nor its threads. Its calls end when the other engine, on which it depends,
 * closes.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ Mono.class, ReactiveIdempotencyEngine.class })
@Import(InterceptorConfiguration.ReactiveMethods.class)
class ReactiveEngineConfiguration {

	@Bean(destroyMethod = "close")
	@Lazy
	@ConditionalOnMissingBean
	ReactiveIdempotencyEngine reactiveIdempotencyEngine(IdempotencyEngine engine,
			ObjectProvider<ReactiveIdempotencyStore> stores, SurroundingTransactions transactions) {
		return new ReactiveIdempotencyEngine(engine, stores.stream().toList(), transactions);
	}

	@Bean
	@ConditionalOnMissingBean
	ReactiveIdempotencyTemplate reactiveIdempotencyTemplate(IdempotencyEngine engine, DefaultStoreFinder stores,
			ResultCodec codec, IdempotencyOptions options, TemplateEnvironment environment, Namespace namespace,
			ObjectProvider<ReactiveIdempotencyEngine> reactive) {
		DefaultIdempotencyTemplate template = new DefaultIdempotencyTemplate(engine, stores.defaultStore(), codec,
				options, environment, namespace);
		return ReactiveIdempotencyEngine.template(template, reactive::getObject);
	}

}
