package io.idempotency.store.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Scheduler;
import io.idempotency.store.sql.RecordCleanup;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

class RecordCleanupTests {

	private static final Duration SHORT = Duration.ofNanos(1000);

	private final H2Database database = H2Database.withTable();

	private final JdbcIdempotencyStore store = new JdbcIdempotencyStore(this.database.dataSource());

	@Test
	void purgesBatchAfterBatchAndKeepsWhatIsLive() {
		for (int i = 0; i < 25; i++) {
			claim("over-" + i, SHORT);
		}
		ClaimRequest live = claim("live", Duration.ofHours(1));
		try (RecordCleanup cleanup = new RecordCleanup(this.store::purge, Duration.ofMillis(20), 10)) {
			cleanup.start();
			await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(records()).isOne());
		}
		assertThat(this.store.claim(live)).isInstanceOf(ClaimResult.Acquired.class);
	}

	/** Whoever starts it may be a request of an application that is undeployed later. */
	@Test
	void threadKeepsNothingOfTheOneThatStartedIt() throws Exception {
		InheritableThreadLocal<String> request = new InheritableThreadLocal<>();
		ClassLoader application = new ClassLoader(getClass().getClassLoader()) {
		};
		CompletableFuture<List<Object>> seen = new CompletableFuture<>();
		DataSource looking = new DelegatingDataSource(this.database.dataSource()) {

			@Override
			public Connection getConnection() throws SQLException {
				seen.complete(Arrays.asList(request.get(), Thread.currentThread().getContextClassLoader()));
				return super.getConnection();
			}

		};
		ClassLoader before = Thread.currentThread().getContextClassLoader();
		try (RecordCleanup cleanup = new RecordCleanup(new JdbcIdempotencyStore(looking)::purge, Duration.ofMillis(5),
				10)) {
			request.set("somebody's");
			Thread.currentThread().setContextClassLoader(application);
			cleanup.start();
			assertThat(seen.get(60, TimeUnit.SECONDS)).doesNotContain("somebody's", application);
		}
		finally {
			Thread.currentThread().setContextClassLoader(before);
			request.remove();
		}
	}

	@Test
	void schedulerMovesIt() {
		Moved scheduler = new Moved();
		try (RecordCleanup cleanup = new RecordCleanup(this.store::purge, Duration.ofHours(1), 10, scheduler)) {
			for (int i = 0; i < 15; i++) {
				claim("over-" + i, SHORT);
			}
			cleanup.start();
			assertThat(scheduler.delays.get(0)).isLessThan(Duration.ofHours(1));
			assertThat(records()).isEqualTo(15);
			scheduler.run();
			assertThat(records()).isEqualTo(5);
			assertThat(scheduler.delays.get(1)).as("as long as the batch took").isEqualTo(Duration.ofNanos(7));
			scheduler.run();
			scheduler.run();
			assertThat(records()).isZero();
			assertThat(scheduler.delays.get(3)).as("nothing was left").isEqualTo(Duration.ofHours(1));
			claim("over", SHORT);
		}
		scheduler.run();
		assertThat(records()).as("not purged after the end").isEqualTo(1);
		assertThat(scheduler.closed).isFalse();
	}

	@Test
	void nodesThatStartTogetherDoNotPurgeTogether() {
		Moved scheduler = new Moved();
		for (int node = 0; node < 20; node++) {
			try (RecordCleanup cleanup = new RecordCleanup(this.store::purge, Duration.ofHours(1), 10, scheduler)) {
				cleanup.start();
			}
		}
		assertThat(scheduler.delays).hasSize(20)
			.doesNotHaveDuplicates()
			.allMatch((delay) -> !delay.isNegative() && delay.compareTo(Duration.ofHours(1)) < 0);
	}

	/** Two nodes purge at once, and neither waits for the other. */
	@Test
	void recordThatSomebodyHoldsIsPassedBy() throws SQLException {
		for (int i = 0; i < 3; i++) {
			claim("over-" + i, SHORT);
		}
		try (Connection other = this.database.dataSource().getConnection(); Statement locks = other.createStatement()) {
			other.setAutoCommit(false);
			assertThat(locks.executeQuery("select key_hash from idempotency_record fetch first 1 rows only for update")
				.next()).isTrue();
			assertThat(this.store.purge(10)).isEqualTo(2);
			assertThat(this.store.purge(10)).isZero();
			other.rollback();
		}
		assertThat(this.store.purge(10)).isOne();
	}

	@Test
	void goesOnAfterAFailure() {
		this.database.jdbc().execute("alter table idempotency_record rename to elsewhere");
		AtomicInteger purges = new AtomicInteger();
		DataSource counting = new DelegatingDataSource(this.database.dataSource()) {

			@Override
			public Connection getConnection() throws SQLException {
				purges.incrementAndGet();
				return super.getConnection();
			}

		};
		try (RecordCleanup cleanup = new RecordCleanup(new JdbcIdempotencyStore(counting)::purge, Duration.ofMillis(5),
				10)) {
			cleanup.start();
			await().atMost(Duration.ofSeconds(60)).until(() -> purges.get() > 2);
			this.database.jdbc().execute("alter table elsewhere rename to idempotency_record");
			claim("over", SHORT);
			await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> assertThat(records()).isZero());
		}
	}

	/** A class that is missing once, or no memory for a moment. */
	@Test
	void goesOnAfterAnError() {
		Moved scheduler = new Moved();
		AtomicInteger errors = new AtomicInteger(1);
		DataSource failing = new DelegatingDataSource(this.database.dataSource()) {

			@Override
			public Connection getConnection() throws SQLException {
				if (errors.getAndDecrement() > 0) {
					throw new NoClassDefFoundError("once");
				}
				return super.getConnection();
			}

		};
		try (RecordCleanup cleanup = new RecordCleanup(new JdbcIdempotencyStore(failing)::purge, Duration.ofHours(1),
				10, scheduler)) {
			cleanup.start();
			scheduler.run();
			assertThat(scheduler.delays).hasSize(2);
			claim("over", SHORT);
			scheduler.run();
			assertThat(records()).isZero();
		}
	}

	@Test
	void intervalAndBatchSizeAreChecked() {
		assertThatIllegalArgumentException().isThrownBy(() -> new RecordCleanup(this.store::purge, Duration.ZERO, 1))
			.withMessageContaining("interval");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new RecordCleanup(this.store::purge, Duration.ofMinutes(5), 0))
			.withMessageContaining("batchSize");
		assertThatIllegalArgumentException().isThrownBy(() -> this.store.purge(10_001))
			.withMessageContaining("batchSize");
	}

	private ClaimRequest claim(String key, Duration time) {
		ClaimRequest request = ClaimRequest.of(IdempotencyKey.of("cleanup", Caller.GLOBAL, key), time, time);
		assertThat(this.store.claim(request)).isInstanceOf(ClaimResult.Acquired.class);
		return request;
	}

	/** Every look at the time takes seven nanoseconds. */
	private static final class Moved implements Scheduler {

		private final List<Duration> delays = new ArrayList<>();

		private Runnable next = () -> {
		};

		private long nanos;

		private boolean closed;

		void run() {
			this.next.run();
		}

		@Override
		public long nanos() {
			this.nanos += 7;
			return this.nanos;
		}

		@Override
		public Timer schedule(Runnable task, Duration delay) {
			this.delays.add(delay);
			this.next = task;
			return () -> this.next = () -> {
			};
		}

		@Override
		public Executor threads(String name, int most) {
			return Runnable::run;
		}

		@Override
		public void close() {
			this.closed = true;
		}

	}

	private long records() {
		return this.database.jdbc().queryForObject("select count(*) from idempotency_record", Long.class);
	}

}
