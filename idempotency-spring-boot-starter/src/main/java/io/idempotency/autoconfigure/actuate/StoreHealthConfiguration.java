package io.idempotency.autoconfigure.actuate;

import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;

/** Declares what both lines of Spring Boot show as health. */
@Configuration(proxyBeanMethods = false)
class StoreHealthConfiguration {

	@Bean
	@Lazy
	StoreHealth idempotencyStoreHealth(ListableBeanFactory beanFactory, IdempotencyProperties properties,
			Namespace namespace, Scheduler scheduler, IdempotencyEngine engine) {
		return StoreHealth.of(beanFactory.getBeansOfType(IdempotencyStore.class), properties.onStoreFailure(),
				properties.storeTimeout(), namespace, scheduler, engine::trouble);
	}

}
