package io.idempotency.autoconfigure.actuate;

import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.Scheduler;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the health of the stores, in
 * applications that have Spring Boot's health endpoint, of either line.
 *
 * @since 0.1.0
 */
@AutoConfiguration(after = IdempotencyAutoConfiguration.class)
@ConditionalOnProperty(name = "management.health.idempotency.enabled", matchIfMissing = true)
@ConditionalOnBean({ IdempotencyStore.class, Scheduler.class, Namespace.class })
public final class IdempotencyHealthAutoConfiguration {

	IdempotencyHealthAutoConfiguration() {
	}

	/** Declares the health of the stores for Spring Boot 3.5. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
	@Import(StoreHealth.BeanConfiguration.class)
	static class Boot3 {

		@Bean
		@ConditionalOnMissingBean(name = "idempotencyHealthIndicator")
		org.springframework.boot.actuate.health.HealthIndicator idempotencyHealthIndicator(
				ObjectProvider<StoreHealth> stores) {
			return () -> {
				StoreHealth.Report report = stores.getObject().report();
				return org.springframework.boot.actuate.health.Health.status(report.status())
					.withDetail("stores", report.stores())
					.build();
			};
		}

	}

	/** Declares the health of the stores for Spring Boot 4. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(name = "org.springframework.boot.health.contributor.HealthIndicator")
	@Import(StoreHealth.BeanConfiguration.class)
	static class Boot4 {

		@Bean
		@ConditionalOnMissingBean(name = "idempotencyHealthIndicator")
		HealthIndicator idempotencyHealthIndicator(ObjectProvider<StoreHealth> stores) {
			return () -> {
				StoreHealth.Report report = stores.getObject().report();
				return Health.status(report.status()).withDetail("stores", report.stores()).build();
			};
		}

	}

}
