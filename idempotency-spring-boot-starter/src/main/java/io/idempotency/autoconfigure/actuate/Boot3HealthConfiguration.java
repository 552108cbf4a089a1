package io.idempotency.autoconfigure.actuate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/** Declares the health of the stores for Spring Boot 3.5. */
@Configuration(proxyBeanMethods = false)
@ConditionalOnClass(name = "org.springframework.boot.actuate.health.HealthIndicator")
@Import(StoreHealthConfiguration.class)
class Boot3HealthConfiguration {

	@Bean
	@ConditionalOnMissingBean(name = "idempotencyHealthIndicator")
	HealthIndicator idempotencyHealthIndicator(ObjectProvider<StoreHealth> stores) {
		return () -> {
			StoreHealth.Report report = stores.getObject().report();
			return Health.status(report.status()).withDetail("stores", report.stores()).build();
		};
	}

}
