package io.idempotency.autoconfigure.actuate;

import java.util.function.ToLongFunction;

import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.store.redis.RedisEvictions;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Declares the numbers that one kind of store has alone. The beans are asked for when
 * somebody looks, because meters are bound before the stores are made.
 */
@Configuration(proxyBeanMethods = false)
class StoreMetricsConfiguration {

	@Bean
	MeterBinder idempotencyMemoryMeters(ListableBeanFactory beanFactory) {
		return (registry) -> {
			if (isThere(beanFactory, MemoryIdempotencyStore.class)) {
				memory(registry, beanFactory, "used", "Size of all records in memory",
						MemoryIdempotencyStore::usedBytes);
				memory(registry, beanFactory, "kept", "Size of the records in memory that are never forgotten",
						MemoryIdempotencyStore::keptBytes);
				memory(registry, beanFactory, "max", "Size that the records in memory may have",
						MemoryIdempotencyStore::maxBytes);
			}
		};
	}

	private static void memory(MeterRegistry registry, ListableBeanFactory beanFactory, String name, String description,
			ToLongFunction<MemoryIdempotencyStore> number) {
		Gauge.builder("idempotency.memory." + name, () -> sum(beanFactory, MemoryIdempotencyStore.class, number))
			.description(description)
			.baseUnit("bytes")
			.register(registry);
	}

	private static boolean isThere(ListableBeanFactory beanFactory, Class<?> type) {
		return beanFactory.getBeanNamesForType(type, true, false).length > 0;
	}

	private static <T> long sum(ListableBeanFactory beanFactory, Class<T> type, ToLongFunction<T> number) {
		return beanFactory.getBeanProvider(type).stream().mapToLong(number).sum();
	}

	/** Declares what a Redis was seen to forget. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(RedisConnectionFactory.class)
	static class RedisMetricsConfiguration {

		@Bean
		MeterBinder idempotencyRedisMeters(ListableBeanFactory beanFactory) {
			return (registry) -> {
				if (isThere(beanFactory, RedisEvictions.class)) {
					FunctionCounter
						.builder("idempotency.redis.evicted.keys", beanFactory,
								(beans) -> sum(beans, RedisEvictions.class, RedisEvictions::evictedKeys))
						.description("Keys that the servers of Redis have evicted since this node watches them")
						.register(registry);
				}
			};
		}

	}

}
