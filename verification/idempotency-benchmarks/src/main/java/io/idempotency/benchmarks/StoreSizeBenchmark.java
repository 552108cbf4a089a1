package io.idempotency.benchmarks;

import java.util.concurrent.TimeUnit;

import io.idempotency.store.ClaimResult;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Whether a call costs more where many others were stored before: compare the two sizes
 * of one run. Another store: {@code -p url=jdbc:postgresql://…} or
 * {@code -p url=redis://localhost:6379}; what it keeps is deleted.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 5)
@Measurement(iterations = 5, time = 5)
@Fork(value = 1, jvmArgs = "-Xmx4g")
public class StoreSizeBenchmark {

	@Param({ "memory", "jdbc:h2:mem:benchmark" })
	private String url;

	@Param({ "1000", "1000000" })
	private long records;

	private BenchmarkStore store;

	@Setup
	public void open() {
		this.store = BenchmarkStore.open(this.url);
		this.store.fill(this.records);
	}

	@TearDown
	public void close() throws Exception {
		this.store.close();
	}

	/** Leaves the size as it is. */
	@Benchmark
	public boolean claimAndRelease() {
		return this.store.failed();
	}

	@Benchmark
	public ClaimResult duplicate() {
		return this.store.duplicate(this.records);
	}

}
