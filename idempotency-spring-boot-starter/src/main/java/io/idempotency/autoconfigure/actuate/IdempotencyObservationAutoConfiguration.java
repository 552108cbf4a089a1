package io.idempotency.autoconfigure.actuate;

import io.idempotency.autoconfigure.IdempotencyProperties;
import io.idempotency.autoconfigure.NodeName;
import io.idempotency.engine.EngineObserver;
import io.idempotency.observation.IdempotencyObservationConvention;
import io.idempotency.observation.MicrometerObserver;
import io.idempotency.observation.OutcomeMeterRegistrar;
import io.idempotency.observation.StoreTimerFactory;
import io.idempotency.observation.TraceLinker;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.AnyNestedCondition;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;

/**
 * {@link EnableAutoConfiguration Auto-configuration} for the observation of guarded calls
 * and stores: what is observed depends on the registries of the application.
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
@Conditional(IdempotencyObservationAutoConfiguration.SomebodyLooks.class)
public final class IdempotencyObservationAutoConfiguration {

	IdempotencyObservationAutoConfiguration() {
	}

	@Bean
	@ConditionalOnMissingBean
	EngineObserver idempotencyObserver(IdempotencyProperties properties, ObjectProvider<ObservationRegistry> registry,
			ObjectProvider<IdempotencyObservationConvention> convention, ObjectProvider<OutcomeMeterRegistrar> outcomes,
			ObjectProvider<TraceLinker> traces, ObjectProvider<StoreTimerFactory> timers) {
		return new MicrometerObserver(NodeName.of(properties), registry.getIfUnique(() -> ObservationRegistry.NOOP),
				convention.getIfUnique(), outcomes.getIfUnique(), traces.getIfUnique(), timers.getIfUnique());
	}

	/** Finds the run behind a replay, in applications that are traced. */
	@Configuration(proxyBeanMethods = false)
	@ConditionalOnClass(Tracer.class)
	@ConditionalOnBean(Tracer.class)
	static class TracesConfiguration {

		@Bean
		TraceLinker idempotencyTraces(Tracer tracer, IdempotencyProperties properties) {
			return new TraceLinker(tracer, NodeName.of(properties));
		}

	}

	/** Nothing of the observation is loaded where no registry and no tracer is there. */
	static final class SomebodyLooks extends AnyNestedCondition {

		SomebodyLooks() {
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
