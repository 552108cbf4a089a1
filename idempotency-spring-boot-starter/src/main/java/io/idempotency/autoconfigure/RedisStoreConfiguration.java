package io.idempotency.autoconfigure;

import java.time.Duration;

import io.idempotency.autoconfigure.OnStoreTypeCondition.ConditionalOnStoreType;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;
import io.idempotency.store.redis.ReactiveRedisIdempotencyStore;
import io.idempotency.store.redis.RedisEvictionMonitor;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Declares the store in Redis. The store uses the connection factory of the application
 * instead of its templates, because templates have specific serializers.
 */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(RedisConnectionFactory.class)
@ConditionalOnMissingBean(IdempotencyStore.class)
@ConditionalOnStoreType({ StoreType.AUTO, StoreType.REDIS })
@ConditionalOnBean(RedisConnectionFactory.class)
class RedisStoreConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(RedisStoreConfiguration.class);

	private static final Duration EVICTIONS_INTERVAL = Duration.ofMinutes(1);

	@Bean
	RedisIdempotencyStore idempotencyStore(IdempotencyProperties properties, Namespace namespace,
			ListableBeanFactory beanFactory,
			@IdempotencyConnectionFactory ObjectProvider<RedisConnectionFactory> marked,
			ObjectProvider<RedisConnectionFactory> all) {
		RedisConnectionFactory connectionFactory = StoreConnectionFinder.choose(beanFactory,
				RedisConnectionFactory.class, IdempotencyConnectionFactory.class, marked, all, (connections) -> false);
		RedisIdempotencyStore store = new RedisIdempotencyStore(connectionFactory, properties.redis().keyPrefix(),
				properties.storeTimeout());
		LeaseTimeCheck.compare(properties, 1);
		// Redis may be down now and up at the first call, so this check mostly warns. It
		// fails only if no call could ever succeed.
		store.verify();
		if (properties.store() == StoreType.AUTO) {
			logger.info("Idempotency records are stored in Redis: idempotency.store is 'auto', and the application "
					+ "has a RedisConnectionFactory");
		}
		NamespaceConfiguration.warnOfNone(properties, namespace, "Redis");
		return store;
	}

	@Bean(initMethod = "start")
	@Lazy(false)
	RedisEvictionMonitor idempotencyEvictions(RedisIdempotencyStore idempotencyStore, Scheduler scheduler) {
		return idempotencyStore.evictions(EVICTIONS_INTERVAL, scheduler);
	}

	/**
	 * The form of the store for calls that must not block. It is created for the first
	 * such call.
	 */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = { "reactor.core.publisher.Mono", "io.lettuce.core.RedisClient",
			"io.idempotency.reactor.ReactiveIdempotencyStore" })
	static class ReactiveForm {

		/** Returns null if the store always blocks. */
		@Bean
		@Lazy
		@Nullable ReactiveRedisIdempotencyStore reactiveIdempotencyStore(RedisIdempotencyStore idempotencyStore) {
			return ReactiveRedisIdempotencyStore.of(idempotencyStore).orElse(null);
		}

	}

}
