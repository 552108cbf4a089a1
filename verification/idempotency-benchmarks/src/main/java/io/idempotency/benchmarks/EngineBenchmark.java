package io.idempotency.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.IdempotencyListener;
import io.idempotency.IdempotencyOptions;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.engine.GuardedCall;
import io.idempotency.store.memory.MemoryIdempotencyStore;
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

/**
 * What the engine costs on the memory store, beside the same call without it: read the
 * numbers of one run as ratios.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class EngineBenchmark {

	private static final long STORE_BYTES = 256L << 20;

	private final AtomicLong sequence = new AtomicLong();

	private final TextAction action = new TextAction();

	private IdempotencyEngine engine;

	private MemoryIdempotencyStore store;

	private GuardedCall done;

	@Setup
	public void open() throws Throwable {
		this.engine = new IdempotencyEngine(10, IdempotencyListener.NONE);
		this.store = new MemoryIdempotencyStore(STORE_BYTES);
		this.done = call("done");
		this.engine.execute(this.done, this.action);
	}

	@TearDown
	public void close() {
		this.engine.close();
	}

	@Benchmark
	public String unguarded() {
		return this.action.run();
	}

	@Benchmark
	public String fresh() throws Throwable {
		return this.engine.execute(call(Long.toString(this.sequence.incrementAndGet())), this.action);
	}

	@Benchmark
	public String replay() throws Throwable {
		return this.engine.execute(this.done, this.action);
	}

	private GuardedCall call(String key) {
		return new GuardedCall(IdempotencyKey.of("benchmark", Caller.GLOBAL, key), Fingerprint.NONE,
				IdempotencyOptions.DEFAULTS, this.store);
	}

}
