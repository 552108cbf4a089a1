package io.idempotency.benchmarks;

import java.util.concurrent.TimeUnit;

import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Group;
import org.openjdk.jmh.annotations.GroupThreads;
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
 * How long calls take at worst while a million expired records are purged: look at p1.00
 * of {@code fresh}. Another database: {@code -p url=jdbc:postgresql://…}; what it keeps
 * is deleted.
 */
@State(Scope.Group)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 1, time = 5)
@Measurement(iterations = 1, time = 20)
@Fork(value = 1, jvmArgs = "-Xmx4g")
public class PurgeBenchmark {

	@Param("jdbc:h2:mem:benchmark")
	private String url;

	@Param("1000000")
	private long expired;

	private BenchmarkStore store;

	private long purged;

	@Setup
	public void open() {
		this.store = BenchmarkStore.open(this.url);
		this.store.fillExpired(this.expired);
	}

	@TearDown
	public void close() throws Exception {
		System.out.println("purged " + this.purged + " of " + this.expired);
		this.store.close();
	}

	@Benchmark
	@Group("purging")
	@GroupThreads(2)
	public boolean fresh() {
		return this.store.fresh();
	}

	@Benchmark
	@Group("purging")
	@GroupThreads(1)
	public int purge() {
		int batch = this.store.purge(1000);
		this.purged += batch;
		return batch;
	}

}
