package io.idempotency.autoconfigure;

import io.idempotency.engine.CallObserver;
import io.idempotency.observation.IdempotencyObservationConvention;
import io.idempotency.observation.MicrometerCallObserver;
import io.micrometer.observation.ObservationRegistry;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the observation of guarded
 * calls, in applications that have an {@link ObservationRegistry}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(
		afterName = { "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration" })
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(ObservationRegistry.class)
public final class IdempotencyObservationAutoConfiguration {

	IdempotencyObservationAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	CallObserver idempotencyCallObserver(ObservationRegistry registry,
			ObjectProvider<IdempotencyObservationConvention> convention) {
		return new MicrometerCallObserver(registry, convention.getIfUnique());
	}

}
