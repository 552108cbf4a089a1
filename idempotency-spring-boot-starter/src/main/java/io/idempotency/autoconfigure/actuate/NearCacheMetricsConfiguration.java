package io.idempotency.autoconfigure.actuate;

import com.github.benmanes.caffeine.cache.Cache;
import io.idempotency.autoconfigure.DefaultStoreFinder;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.cache.CaffeineCacheMetrics;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Declares the statistics of the near cache, which are those of Micrometer's binder. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass({ Cache.class, CaffeineCacheMetrics.class })
class NearCacheMetricsConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(NearCacheMetricsConfiguration.class);

	@Bean
	DefaultStoreFinder.NearCacheMonitor idempotencyNearCacheMonitor(MeterRegistry registry) {
		return (cache) -> {
			try {
				CaffeineCacheMetrics.monitor(registry, cache, "idempotency");
			}
			catch (RuntimeException ex) {
				// No application fails to start because it cannot be measured.
				logger.warn("The near cache is not measured", ex);
			}
		};
	}

}
