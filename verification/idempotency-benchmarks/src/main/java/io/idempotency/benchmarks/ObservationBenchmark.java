package io.idempotency.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.observation.ObservationConfiguration;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.Scheduler;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/**
 * What metrics of guarded calls cost, beside an observation of Micrometer around nothing:
 * less than that is not possible with one observation for each call.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class ObservationBenchmark {

	private static final long STORE_BYTES = 256L << 20;

	private final AtomicLong sequence = new AtomicLong();

	private final TextAction action = new TextAction();

	private final KeyValues values = KeyValues.of(KeyValue.of("operation", "pay"), KeyValue.of("mode", "replay"),
			KeyValue.of("store", "memory"), KeyValue.of("outcome", "executed"));

	private ObservationRegistry observations;

	private MeterRegistry meters;

	private Scheduler scheduler;

	private IdempotencyEngine seen;

	private IdempotencyEngine unseen;

	private MemoryIdempotencyStore store;

	private GuardedCall done;

	@Setup
	public void open() throws Throwable {
		this.meters = new SimpleMeterRegistry();
		this.observations = ObservationRegistry.create();
		this.observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(this.meters));
		this.scheduler = Scheduler.system();
		this.seen = new IdempotencyEngine(10, DetachedCalls.Limits.DEFAULTS, IdempotencyListener.NONE, this.scheduler,
				() -> null, null, observer());
		this.unseen = new IdempotencyEngine(10, DetachedCalls.Limits.DEFAULTS, IdempotencyListener.NONE, this.scheduler,
				() -> null, null, EngineObserver.NONE);
		this.store = new MemoryIdempotencyStore(STORE_BYTES);
		this.done = call("done");
		this.unseen.execute(this.done, this.action);
	}

	private EngineObserver observer() {
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext()) {
			context.getBeanFactory().registerSingleton("node", ClaimOrigin.UNKNOWN);
			context.getBeanFactory().registerSingleton("meters", this.meters);
			context.getBeanFactory().registerSingleton("observations", this.observations);
			context.register(ObservationConfiguration.Calls.class, ObservationConfiguration.Meters.class);
			context.refresh();
			return context.getBean(EngineObserver.class);
		}
	}

	@TearDown
	public void close() {
		this.seen.close();
		this.unseen.close();
		this.scheduler.close();
	}

	@Benchmark
	public String aroundNothing() {
		return Observation.createNotStarted("idempotency", this.observations)
			.lowCardinalityKeyValues(this.values)
			.observe(this.action::run);
	}

	@Benchmark
	public String freshSeen() throws Throwable {
		return this.seen.execute(fresh(), this.action);
	}

	@Benchmark
	public String freshUnseen() throws Throwable {
		return this.unseen.execute(fresh(), this.action);
	}

	@Benchmark
	public String replaySeen() throws Throwable {
		return this.seen.execute(this.done, this.action);
	}

	@Benchmark
	public String replayUnseen() throws Throwable {
		return this.unseen.execute(this.done, this.action);
	}

	private GuardedCall fresh() {
		return call(Long.toString(this.sequence.incrementAndGet()));
	}

	private GuardedCall call(String key) {
		return new GuardedCall(IdempotencyKey.of("benchmark", Caller.GLOBAL, key), Fingerprint.NONE,
				IdempotencyOptions.DEFAULTS, this.store);
	}

}
