package io.idempotency.autoconfigure.actuate;

import io.idempotency.engine.EngineObserver;
import io.idempotency.observation.ObservationConfiguration;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the observation of guarded calls
 * and stores. The registries of the application determine the kinds of observation.
 *
 * @since 0.1.0
 */
@AutoConfiguration(
		afterName = { "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
				"org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
				"org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration",
				"org.springframework.boot.actuate.autoconfigure.tracing.MicrometerTracingAutoConfiguration",
				"org.springframework.boot.micrometer.tracing.autoconfigure.MicrometerTracingAutoConfiguration" })
@ConditionalOnProperty(name = "idempotency.enabled", matchIfMissing = true)
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnMissingBean(EngineObserver.class)
@Conditional(IdempotencyObservationAutoConfiguration.ObservationEnabled.class)
@Import(ObservationConfiguration.Calls.class)
public final class IdempotencyObservationAutoConfiguration {

	IdempotencyObservationAutoConfiguration() {
	}

	/** Finds the run behind a replay, in applications that are traced. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Tracer.class)
	@ConditionalOnBean(Tracer.class)
	@Import(ObservationConfiguration.Traces.class)
	static class TracesConfiguration {

	}

	/** Classes of the observation are not loaded without a registry or a tracer. */
	static final class ObservationEnabled extends AnyNestedCondition {

		ObservationEnabled() {
			super(ConfigurationPhase.REGISTER_BEAN);
		}

		@ConditionalOnBean(ObservationRegistry.class)
		static final class Observed {

		}

		@ConditionalOnBean(type = "io.micrometer.core.instrument.MeterRegistry")
		static final class Measured {

		}

		@ConditionalOnBean(type = "io.micrometer.tracing.Tracer")
		static final class Traced {

		}

	}

}
