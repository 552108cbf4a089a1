package io.idempotency.benchmarks;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.idempotency.key.Caller;
import io.idempotency.key.HeaderKeyParser;
import io.idempotency.key.IdempotencyKey;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long it takes to read a key from its header, and to make of it what stores know.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class KeyBenchmark {

	private static final int MAX_LENGTH = 255;

	private final HeaderKeyParser parser = new HeaderKeyParser(MAX_LENGTH);

	private List<String> bare = List.of("8e03978e-40d5-43e8-bc93-6894a57f9324");

	private List<String> quoted = List.of("\"8e03978e-40d5-43e8-bc93-6894a57f9324\"");

	@Benchmark
	public String bare() {
		return this.parser.parse("PaymentController#pay", this.bare);
	}

	@Benchmark
	public String quoted() {
		return this.parser.parse("PaymentController#pay", this.quoted);
	}

	@Benchmark
	public IdempotencyKey key() {
		return IdempotencyKey.of("PaymentController#pay", Caller.GLOBAL, this.bare.get(0));
	}

}
