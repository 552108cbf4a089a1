package io.idempotency.autoconfigure;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.engine.StoreObserver;
import io.idempotency.observation.EngineMeters;
import io.idempotency.observation.EventCounter;
import io.idempotency.observation.MicrometerStoreObserver;
import io.idempotency.store.nearcache.NearCacheIdempotencyStore;
import io.micrometer.core.instrument.MeterRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the metrics of stores, claims
 * and near cache, in applications that have a {@link MeterRegistry}. The calls themselves
 * are counted by their observation.
 *
 * @since 0.1.0
 */
@AutoConfiguration(
		afterName = { "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration" })
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
@Import(NearCacheMetricsConfiguration.class)
public final class IdempotencyMetricsAutoConfiguration {

	IdempotencyMetricsAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	StoreObserver idempotencyStoreObserver(MeterRegistry registry) {
		MicrometerStoreObserver timers = new MicrometerStoreObserver(registry);
		// The store behind a near cache is measured, and not the cache.
		return (store) -> (store instanceof NearCacheIdempotencyStore) ? store : timers.observed(store);
	}

	@Bean
	EventCounter idempotencyEventCounter(MeterRegistry registry) {
		return new EventCounter(registry);
	}

	@Bean
	EngineMeters idempotencyEngineMeters(ObjectProvider<IdempotencyEngine> engines) {
		return new EngineMeters(() -> {
			IdempotencyEngine engine = engines.getIfUnique();
			return (engine != null) ? engine.load() : null;
		});
	}

}
