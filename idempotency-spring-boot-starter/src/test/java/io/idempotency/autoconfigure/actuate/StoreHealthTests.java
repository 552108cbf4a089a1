package io.idempotency.autoconfigure.actuate;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import io.idempotency.StoreFailureMode;
import io.idempotency.autoconfigure.RecordingStore;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.key.Namespace;
import io.idempotency.store.ClaimId;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.Scheduler;
import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/** Whether the stores answer, how it is found out, and what follows from it. */
class StoreHealthTests {

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final AtomicLong nanos = new AtomicLong();

	private final ProbedStore store = new ProbedStore();

	private @Nullable Throwable trouble;

	private final Time time = new Time(this.nanos, this.threads);

	@AfterEach
	void close() {
		this.store.hangs.countDown();
		this.threads.shutdownNow();
	}

	private StoreHealth health(StoreFailureMode mode, Duration timeout) {
		return StoreHealth.of(Map.of("idempotencyStore", this.store), mode, timeout, Namespace.NONE, this.time,
				(store) -> this.trouble);
	}

	private StoreHealth health(StoreFailureMode mode) {
		return health(mode, Duration.ofSeconds(40));
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

	@Test
	void storeThatAnswersIsUp() {
		StoreHealth.Report report = health(StoreFailureMode.REJECT).report();
		assertThat(report.status()).isEqualTo("UP");
		assertThat(report.stores()).isEqualTo(Map.of("idempotencyStore", Map.of("type", "probed", "answers", true)));
	}

	@Test
	void storeThatAnswersWhileCallsFailIsDegraded() {
		this.trouble = new IllegalStateException("claim", new IllegalArgumentException("OOM command not allowed"));
		StoreHealth.Report report = health(StoreFailureMode.REJECT).report();
		assertThat(report.status()).isEqualTo("DEGRADED");
		assertThat(report.stores().toString()).contains("answers=true").contains("OOM command not allowed");
	}

	/** PostgreSQL, for example, quotes the row that it rejects. */
	@Test
	void messageOfADatabaseIsNotTold() {
		this.trouble = new IdempotencyStoreException("The database failed to execute 'complete'",
				new SQLException("ERROR: value too long\n  Detail: Failing row contains (4111)", "22001", 7));
		StoreHealth.Report report = health(StoreFailureMode.REJECT).report();
		assertThat(report.stores().toString()).contains("Calls fail: SQLException, SQL state 22001, code 7")
			.doesNotContain("Failing row", "4111");
	}

	@Test
	void firstLineOfAMessageIsTold() {
		this.trouble = new IllegalStateException("OOM command not allowed\nsecond line 4111");
		assertThat(health(StoreFailureMode.REJECT).report().stores().toString()).contains("OOM command not allowed")
			.doesNotContain("4111");
	}

	@Test
	void storeThatFailsTakesCallsDownWhereTheyAreRejected() {
		this.store.fails = true;
		StoreHealth.Report report = health(StoreFailureMode.REJECT).report();
		assertThat(report.status()).isEqualTo("DOWN");
		assertThat(report.stores().toString()).contains("answers=false").contains("is cut off");
	}

	@Test
	void storeThatFailsDegradesCallsThatRunUnguarded() {
		this.store.fails = true;
		assertThat(health(StoreFailureMode.PROCEED).report().status()).isEqualTo("DEGRADED");
	}

	@Test
	void answerServesForSomeSeconds() {
		StoreHealth health = health(StoreFailureMode.REJECT);
		health.report();
		this.store.fails = true;
		pass(StoreProbe.KEPT.minusNanos(1));
		assertThat(health.report().status()).isEqualTo("UP");
		assertThat(this.store.questions).hasValue(1);
		pass(Duration.ofNanos(1));
		assertThat(health.report().status()).isEqualTo("DOWN");
		this.store.fails = false;
		pass(StoreProbe.KEPT);
		assertThat(health.report().status()).isEqualTo("UP");
		assertThat(this.store.questions).hasValue(3);
	}

	@Test
	void manyWhoAskAtTheSameTimeAreOneQuestion() throws Exception {
		StoreHealth health = health(StoreFailureMode.REJECT);
		this.store.hanging = true;
		List<Future<StoreHealth.Report>> reports = IntStream.range(0, 20)
			.mapToObj((i) -> this.threads.submit(health::report))
			.toList();
		this.store.hangs.countDown();
		for (Future<StoreHealth.Report> report : reports) {
			assertThat(report.get().status()).isEqualTo("UP");
		}
		assertThat(this.store.questions).hasValue(1);
	}

	@Test
	void storeThatHangsIsDownAndIsNotAskedAgainMeanwhile() {
		StoreHealth health = health(StoreFailureMode.REJECT, Duration.ofMillis(50));
		this.store.hanging = true;
		assertThat(health.report().stores().toString()).contains("No response within 50 ms");
		pass(Duration.ofMinutes(1));
		assertThat(health.report().status()).isEqualTo("DOWN");
		assertThat(this.store.questions).hasValue(1);
	}

	@Test
	void applicationThatStopsIsDown() {
		this.threads.shutdownNow();
		assertThat(health(StoreFailureMode.REJECT).report().stores().toString()).contains("is stopping");
	}

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyHealthAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	@Test
	void indicatorHasTheNameOfTheLibrary() {
		this.runner.run((context) -> {
			Health health = context.getBean("idempotencyHealthIndicator", HealthIndicator.class).health();
			assertThat(health.getStatus().getCode()).isEqualTo("UP");
			assertThat(health.getDetails().toString()).contains("memory");
		});
	}

	@Test
	void indicatorCanBeSwitchedOffOrReplaced() {
		this.runner.withPropertyValues("management.health.idempotency.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
		HealthIndicator own = () -> Health.up().build();
		this.runner.withBean("idempotencyHealthIndicator", HealthIndicator.class, () -> own)
			.run((context) -> assertThat(context).getBean(HealthIndicator.class).isSameAs(own));
	}

	@Test
	void thereIsNoneWithoutActuator() {
		this.runner.withClassLoader(new FilteredClassLoader(HealthIndicator.class, MeterRegistry.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean("idempotencyHealthIndicator"));
	}

	@Test
	void thereIsNoneWhereNothingIsGuarded() {
		this.runner.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context).doesNotHaveBean(HealthIndicator.class));
	}

	/** A store that fails or hangs. */
	private static final class ProbedStore extends RecordingStore {

		private final AtomicInteger questions = new AtomicInteger();

		private final CountDownLatch hangs = new CountDownLatch(1);

		private volatile boolean fails;

		private volatile boolean hanging;

		@Override
		public boolean renew(IdempotencyKey key, ClaimId claimId, Duration lease) {
			this.questions.incrementAndGet();
			if (this.fails) {
				throw new IdempotencyStoreException("The store is cut off");
			}
			try {
				if (this.hanging) {
					this.hangs.await();
				}
			}
			catch (InterruptedException ex) {
				throw new IdempotencyStoreException("Interrupted", ex);
			}
			return super.renew(key, claimId, lease);
		}

		@Override
		public String type() {
			return "probed";
		}

	}

	/** Time that passes when a test says so. */
	private record Time(AtomicLong now, ExecutorService executor) implements Scheduler {

		@Override
		public long nanos() {
			return this.now.get();
		}

		@Override
		public Timer schedule(Runnable task, Duration delay) {
			throw new UnsupportedOperationException();
		}

		@Override
		public Executor threads(String name, int most) {
			return this.executor;
		}

		@Override
		public void close() {
			this.executor.shutdownNow();
		}

	}

}
