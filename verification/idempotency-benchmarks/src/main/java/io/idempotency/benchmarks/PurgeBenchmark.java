package io.idempotency.benchmarks;

import io.idempotency.store.sql.RecordCleanup;
import java.util.concurrent.TimeUnit;

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
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * How long calls take at worst while a million expired records are purged as an
 * application does it: look at p1.00. Another database:
 * {@code -p url=jdbc:postgresql://…}; what it keeps is deleted.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 1, time = 5)
@Measurement(iterations = 1, time = 20)
@Fork(value = 1, jvmArgs = "-Xmx4g")
@Threads(2)
public class PurgeBenchmark {

	@Param("jdbc:h2:mem:benchmark")
	private String url;

	@Param("1000000")
	private long expired;

	@Param("1000")
	private int batchSize;

	private BenchmarkStore store;

	private RecordCleanup cleanup;

	@Setup
	public void open() {
		this.store = BenchmarkStore.open(this.url);
		this.store.fillExpired(this.expired);
		this.cleanup = this.store.newCleanup(this.batchSize);
		this.cleanup.start();
	}

	@TearDown
	public void close() throws Exception {
		this.cleanup.close();
		System.out.println("purged " + (this.expired - this.store.countExpired()) + " of " + this.expired);
		this.store.close();
	}

	@Benchmark
	public boolean fresh() {
		return this.store.fresh();
	}

}
