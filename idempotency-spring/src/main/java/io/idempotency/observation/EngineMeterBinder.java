package io.idempotency.observation;

import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import io.idempotency.engine.EngineRuntime.EngineLoad;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;

/**
 * Registers gauges for the current work of an engine. Each number is computed when a
 * gauge is read, at no cost for calls.
 */
final class EngineMeterBinder implements MeterBinder {

	private static final double NANOS_OF_A_SECOND = 1e9;

	private final Supplier<@Nullable EngineLoad> load;

	/**
	 * Creates the binder.
	 * @param load returns the load of the engine, {@code null} without an engine
	 */
	EngineMeterBinder(Supplier<@Nullable EngineLoad> load) {
		this.load = load;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		gauge("idempotency.claims.running", EngineLoad::runningClaims).description("Claims that this node renews")
			.register(registry);
		gauge("idempotency.waiters", EngineLoad::waiters).description("Duplicates that wait on this node")
			.register(registry);
		gauge("idempotency.waiters.max", EngineLoad::maxWaiters)
			.description("Maximum number of duplicates that wait on this node")
			.register(registry);
		gauge("idempotency.detached.calls", EngineLoad::detachedCalls)
			.description("Detached calls in progress on this node")
			.register(registry);
		gauge("idempotency.pending.writes", EngineLoad::outstandingWrites)
			.description("Completions and releases that are not yet stored")
			.register(registry);
		gauge("idempotency.pending.bytes", EngineLoad::outstandingBytes)
			.description("Size of the results that are not yet stored")
			.baseUnit("bytes")
			.register(registry);
		gauge("idempotency.lease.renewal.delay", (now) -> now.latestBeat().toNanos() / NANOS_OF_A_SECOND)
			.description("Delay of the most overdue lease renewal")
			.baseUnit("seconds")
			.register(registry);
	}

	private Gauge.Builder<Supplier<Number>> gauge(String name, ToDoubleFunction<EngineLoad> number) {
		return Gauge.builder(name, () -> {
			EngineLoad now = this.load.get();
			return (now != null) ? number.applyAsDouble(now) : 0;
		});
	}

}
