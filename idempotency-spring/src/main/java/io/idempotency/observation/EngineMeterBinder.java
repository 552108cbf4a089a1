package io.idempotency.observation;

import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;

import io.idempotency.engine.EngineRuntime.EngineLoad;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.jspecify.annotations.Nullable;

/**
 * Shows what an engine has to do at this moment. Each number is read when somebody looks,
 * and calls pay nothing for it.
 */
final class EngineMeterBinder implements MeterBinder {

	private static final double NANOS_OF_A_SECOND = 1e9;

	private final Supplier<@Nullable EngineLoad> load;

	/**
	 * Creates the binder.
	 * @param load gives the load of the engine, {@code null} if there is no engine
	 */
	EngineMeterBinder(Supplier<@Nullable EngineLoad> load) {
		this.load = load;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		gauge("idempotency.claims.running", EngineLoad::runningClaims)
			.description("Claims of this node that are being renewed")
			.register(registry);
		gauge("idempotency.waiters", EngineLoad::waiters)
			.description("Duplicates of this node that wait for the end of a conflict")
			.register(registry);
		gauge("idempotency.waiters.max", EngineLoad::maxWaiters)
			.description("Duplicates that may wait on this node at the same time")
			.register(registry);
		gauge("idempotency.detached.calls", EngineLoad::detachedCalls)
			.description("Calls of this node whose work goes on though their caller is gone")
			.register(registry);
		gauge("idempotency.pending.writes", EngineLoad::outstandingWrites)
			.description("Completions and releases that a store has not taken yet")
			.register(registry);
		gauge("idempotency.pending.bytes", EngineLoad::outstandingBytes)
			.description("Size of the results that a store has not taken yet")
			.baseUnit("bytes")
			.register(registry);
		gauge("idempotency.lease.renewal.delay", (now) -> now.latestBeat().toNanos() / NANOS_OF_A_SECOND)
			.description("How long ago the renewal was due that is the latest")
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
