package io.idempotency.benchmarks;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.idempotency.Idempotent;
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

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/**
 * What the guard of a method costs on the memory store, beside a bare call and beside a
 * hit of a Caffeine cache behind {@code @Cacheable} with the same key in SpEL.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(1)
public class MethodAdapterBenchmark {

	private static final Order DONE = new Order("done", 3);

	private final AtomicLong sequence = new AtomicLong();

	private final Orders bare = new Orders();

	private ConfigurableApplicationContext context;

	private Orders orders;

	@Setup
	public void open() {
		this.context = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.properties("idempotency.store=memory", "spring.main.banner-mode=off",
					"spring.autoconfigure.exclude=org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration,"
							+ "org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration,"
							+ "com.baomidou.lock.spring.boot.autoconfigure.LockAutoConfiguration,"
							+ "com.baomidou.lock.spring.boot.autoconfigure.RedisTemplateLockAutoConfiguration,"
							+ "com.pig4cloud.plugin.idempotent.IdempotentAutoConfiguration")
			.run();
		this.orders = this.context.getBean(Orders.class);
		this.orders.guarded(DONE);
		this.orders.cached(DONE);
	}

	@TearDown
	public void close() {
		this.context.close();
	}

	@Benchmark
	public String bare() {
		return this.bare.guarded(DONE);
	}

	@Benchmark
	public String replay() {
		return this.orders.guarded(DONE);
	}

	@Benchmark
	public String cacheHit() {
		return this.orders.cached(DONE);
	}

	@Benchmark
	public String fresh() {
		return this.orders.guarded(next());
	}

	@Benchmark
	public String cacheMiss() {
		return this.orders.cached(next());
	}

	private Order next() {
		return new Order(Long.toString(this.sequence.incrementAndGet()), 3);
	}

	/**
	 * The argument of the methods.
	 *
	 * @param id the key
	 * @param count something else
	 */
	public record Order(String id, int count) {
	}

	/** The same method twice. */
	public static class Orders {

		/** Guarded. */
		@Idempotent(key = "#order.id()")
		public String guarded(Order order) {
			return "order of " + order.count();
		}

		/** Cached. */
		@Cacheable(cacheNames = "orders", key = "#order.id()")
		public String cached(Order order) {
			return "order of " + order.count();
		}

	}

	@EnableAutoConfiguration
	@EnableCaching
	@Import(Orders.class)
	static class Application {

		@Bean
		CacheManager caches() {
			CaffeineCacheManager caches = new CaffeineCacheManager("orders");
			caches.setCacheSpecification("maximumSize=100000");
			return caches;
		}

	}

}
