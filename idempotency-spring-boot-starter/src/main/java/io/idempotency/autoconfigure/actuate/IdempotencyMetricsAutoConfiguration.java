package io.idempotency.autoconfigure.actuate;

import io.idempotency.interceptor.OperationCatalog;
import io.idempotency.observation.IdempotencyObservationContext;
import io.idempotency.observation.ObservationConfiguration;
import io.idempotency.observation.OutcomeMeterRegistrar;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;

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
@Import({ StoreMetricsConfiguration.class, ObservationConfiguration.Meters.class })
public final class IdempotencyMetricsAutoConfiguration {

	IdempotencyMetricsAutoConfiguration() {
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

}
