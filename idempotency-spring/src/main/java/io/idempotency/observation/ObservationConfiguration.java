package io.idempotency.observation;

import io.idempotency.Internal;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.store.ClaimOrigin;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Contains the configurations of this package. The starter imports each one under its
 * conditions.
 *
 * @hidden
 */
@Internal
public final class ObservationConfiguration {

	private ObservationConfiguration() {
	}

	/**
	 * Declares the observer of calls and stores.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static class Calls {

		@Bean
		EngineObserver idempotencyObserver(ClaimOrigin node, ObjectProvider<ObservationRegistry> registry,
				ObjectProvider<IdempotencyObservationConvention> convention,
				ObjectProvider<OutcomeMeterRegistrar> outcomes, ObjectProvider<TraceLinker> traces,
				ObjectProvider<StoreTimerFactory> timers) {
			return new MicrometerObserver(node, registry.getIfUnique(() -> ObservationRegistry.NOOP),
					convention.getIfUnique(), outcomes.getIfUnique(), traces.getIfUnique(), timers.getIfUnique());
		}

	}

	/**
	 * Links a replay to the trace of the first call. Needs a {@link Tracer}.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static class Traces {

		@Bean
		TraceLinker idempotencyTraces(Tracer tracer, ClaimOrigin node) {
			return new TraceLinker(tracer, node);
		}

	}

	/**
	 * Declares the metrics of stores and claims. Needs a {@link MeterRegistry}.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static class Meters {

		@Bean
		StoreTimerFactory idempotencyStoreTimers(MeterRegistry registry) {
			return new StoreTimerFactory(registry);
		}

		@Bean
		EventCounter idempotencyEventCounter(MeterRegistry registry) {
			return new EventCounter(registry);
		}

		@Bean
		EngineMeterBinder idempotencyEngineMeters(ObjectProvider<IdempotencyEngine> engines) {
			return new EngineMeterBinder(() -> {
				IdempotencyEngine engine = engines.getIfUnique();
				return (engine != null) ? engine.load() : null;
			});
		}

	}

	/**
	 * Counts the outcomes of calls from zero. Needs {@link Meters} and an
	 * {@link ObservationRegistry}.
	 *
	 * @hidden
	 */
	@Configuration(proxyBeanMethods = false)
	public static class Outcomes {

		@Bean
		OutcomeMeterRegistrar idempotencyOutcomeMeters(MeterRegistry meters, ObservationRegistry observations,
				ObjectProvider<IdempotencyObservationConvention> convention, ObjectProvider<ObservationFilter> filters,
				EventCounter events) {
			return new OutcomeMeterRegistrar(meters, observations, convention.getIfUnique(),
					filters.orderedStream().toList(), events);
		}

	}

}
