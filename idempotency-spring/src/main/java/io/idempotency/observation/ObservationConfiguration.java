package io.idempotency.observation;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.store.ClaimOrigin;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The configurations of this package. The starter imports each one under its conditions.
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

	/**
	 * Registers the meters of an operation that alerts need at zero. Prometheus does not
	 * see the start of a time series, so the first rejection of a node would not be
	 * counted. Other outcomes get their series when they first occur.
	 * {@link EventCounter} counts the other events that must not be missed. Thread-safe.
	 * <p>
	 * The meters have the same names and tags as the observation of a call, as far as the
	 * convention and the filters determine them. If another component adds tags, the
	 * meters would conflict with those of the calls, so they are removed again.
	 *
	 * @hidden
	 */
	public static final class OutcomeMeterRegistrar {

		/** The outcomes that alerts use, with their label {@code error}. */
		private static final Map<IdempotencyOutcome, String> ALERTED = Map.of(IdempotencyOutcome.EXECUTED, "none",
				IdempotencyOutcome.STORE_UNAVAILABLE, IdempotencyStoreUnavailableException.class.getSimpleName(),
				IdempotencyOutcome.KEY_REUSED, IdempotencyKeyReusedException.class.getSimpleName());

		private final MeterRegistry meters;

		private final ObservationRegistry observations;

		private final IdempotencyObservationConvention convention;

		private final List<ObservationFilter> filters;

		private final EventCounter events;

		private final Set<String> begun = ConcurrentHashMap.newKeySet();

		private final Set<Meter> registered = ConcurrentHashMap.newKeySet();

		/**
		 * The meters of calls that the registry does not export because of the registered
		 * meters.
		 */
		private final Set<Meter.Id> rejected = ConcurrentHashMap.newKeySet();

		/**
		 * Creates the registrar.
		 * @param meters the registry for the meters
		 * @param observations shows whether calls are observed
		 * @param convention names the observations; {@code null} for the default names
		 * @param filters change the tags of observations
		 */
		OutcomeMeterRegistrar(MeterRegistry meters, ObservationRegistry observations,
				@Nullable IdempotencyObservationConvention convention, List<ObservationFilter> filters,
				EventCounter events) {
			this.meters = meters;
			this.observations = observations;
			this.convention = (convention != null) ? convention : MicrometerObserver.USUAL;
			this.filters = filters;
			this.events = events;
			meters.config().onMeterRegistrationFailed((id, reason) -> {
				if (this.registered.stream().anyMatch((meter) -> meter.getId().getName().equals(id.getName()))) {
					this.rejected.add(id);
				}
			});
		}

		/** Registers the meters of an operation, unless they are registered already. */
		public void begin(IdempotencyObservationContext call) {
			if (!this.rejected.isEmpty()) {
				giveWay();
			}
			if (!this.begun.add(call.operation())) {
				return;
			}
			this.events.begin(call.operation());
			if (IdempotencyObservation.CALL
				.observation(this.convention, MicrometerObserver.USUAL, () -> call, this.observations)
				.isNoop()) {
				return;
			}
			ALERTED.forEach((outcome, error) -> {
				if (outcome != IdempotencyOutcome.KEY_REUSED || call.mode() == IdempotencyMode.REPLAY) {
					this.registered.add(timer(call, outcome, error));
				}
			});
		}

		/**
		 * Removes the registered meters, and the meters that were rejected because of
		 * them, so that the next call creates its meter again.
		 */
		private void giveWay() {
			this.registered.forEach(this.meters::remove);
			this.registered.clear();
			this.rejected.forEach(this.meters::remove);
			this.rejected.clear();
		}

		private Timer timer(IdempotencyObservationContext call, IdempotencyOutcome outcome, String error) {
			IdempotencyObservationContext named = new IdempotencyObservationContext(call.operation(), call.mode(),
					call.store());
			named.outcome(outcome);
			named.setName(String.valueOf(this.convention.getName()));
			named.addLowCardinalityKeyValues(this.convention.getLowCardinalityKeyValues(named));
			Observation.Context filtered = named;
			for (ObservationFilter filter : this.filters) {
				filtered = filter.map(filtered);
			}
			Timer.Builder timer = Timer.builder(String.valueOf(filtered.getName())).tag("error", error);
			filtered.getLowCardinalityKeyValues().forEach((value) -> timer.tag(value.getKey(), value.getValue()));
			return timer.register(this.meters);
		}

	}

}
