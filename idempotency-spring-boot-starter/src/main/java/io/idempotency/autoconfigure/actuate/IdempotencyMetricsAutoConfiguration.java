package io.idempotency.autoconfigure.actuate;

import java.util.function.ToLongFunction;

import io.idempotency.interceptor.IdempotentOperation.OperationCatalog;
import io.idempotency.observation.IdempotencyObservationContext;
import io.idempotency.observation.ObservationConfiguration;
import io.idempotency.observation.ObservationConfiguration.OutcomeMeterRegistrar;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.store.redis.RedisEvictionMonitor;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the metrics of stores and
 * claims, in applications that have a {@link MeterRegistry}. The calls themselves are
 * counted by their observation.
 *
 * @since 0.1.0
 */
@AutoConfiguration(
		afterName = { "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
@Import(ObservationConfiguration.Meters.class)
public final class IdempotencyMetricsAutoConfiguration {

	IdempotencyMetricsAutoConfiguration() {
	}

	/**
	 * Looks up the stores at each reading, because meters are bound before the stores
	 * exist.
	 */
	@Bean
	MeterBinder idempotencyMemoryMeters(ListableBeanFactory beanFactory) {
		return (registry) -> {
			if (isThere(beanFactory, MemoryIdempotencyStore.class)) {
				memory(registry, beanFactory, "used", "Size of all records in memory",
						MemoryIdempotencyStore::usedBytes);
				memory(registry, beanFactory, "kept", "Size of the records in memory that cannot be evicted",
						MemoryIdempotencyStore::keptBytes);
				memory(registry, beanFactory, "max", "Maximum size of all records in memory",
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

	/** Counts the outcomes of calls from zero, in applications that observe them. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(ObservationRegistry.class)
	@ConditionalOnBean(ObservationRegistry.class)
	@Import(ObservationConfiguration.Outcomes.class)
	static class OutcomesConfiguration {

		@Bean
		ApplicationListener<ContextRefreshedEvent> idempotencyOutcomesOfKnownOperations(OutcomeMeterRegistrar outcomes,
				ObjectProvider<OperationCatalog> catalogs) {
			return (started) -> catalogs.stream()
				.flatMap((catalog) -> catalog.operations().stream())
				.map((operation) -> new IdempotencyObservationContext(operation.name(), operation.options().mode(),
						operation.place().store().type()))
				.forEach(outcomes::begin);
		}

	}

	/** Declares the meter for keys that Redis evicted. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(RedisConnectionFactory.class)
	static class RedisMetricsConfiguration {

		@Bean
		MeterBinder idempotencyRedisMeters(ListableBeanFactory beanFactory) {
			return (registry) -> {
				if (isThere(beanFactory, RedisEvictionMonitor.class)) {
					FunctionCounter
						.builder("idempotency.redis.evicted.keys", beanFactory,
								(beans) -> sum(beans, RedisEvictionMonitor.class, RedisEvictionMonitor::evictedKeys))
						.description("Keys that the Redis servers evicted since this node started")
						.register(registry);
				}
			};
		}

	}

}
