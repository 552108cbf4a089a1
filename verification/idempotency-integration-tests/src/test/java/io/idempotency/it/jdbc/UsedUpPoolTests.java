package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The work of the application uses up the pool that the store shares with it. */
@Requires(Backend.POSTGRESQL)
@StoreAlone
class UsedUpPoolTests {

	private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

	private final List<ConfigurableApplicationContext> applications = new ArrayList<>();

	@AfterEach
	void stop() {
		this.applications.forEach(ConfigurableApplicationContext::close);
	}

	private ConfigurableApplicationContext start(int poolSize) {
		HikariDataSource pool = this.database.pool(poolSize, (config) -> config.setConnectionTimeout(20_000));
		ConfigurableApplicationContext application = PoolApplication.start(pool, PoolApplication.Callers.class,
				"idempotency.lease=18s", "idempotency.store-timeout=6s");
		this.applications.add(application);
		return application;
	}

	private static PoolApplication.Payments payments(ConfigurableApplicationContext application) {
		return application.getBean(PoolApplication.Payments.class);
	}

	private static PoolApplication.Callers callers(ConfigurableApplicationContext application) {
		return application.getBean(PoolApplication.Callers.class);
	}

	private long paid(String ref) {
		return this.database.jdbc().queryForObject("select count(*) from payment where ref = ?", Long.class, ref);
	}

	private static List<String> refs(int count) {
		return IntStream.range(0, count).mapToObj((i) -> i + "-" + UUID.randomUUID()).toList();
	}

	@Test
	void longCallsKeepTheirKeys() throws Exception {
		ConfigurableApplicationContext application = start(3);
		PoolApplication.Payments target = AopTestUtils.getTargetObject(payments(application));
		target.running = new CountDownLatch(3);
		target.mayEnd = new CountDownLatch(1);
		List<String> refs = refs(3);
		List<CompletableFuture<String>> calls = refs.stream()
			.map((ref) -> SchedulerThread.supply(() -> payments(application).pay(ref)))
			.toList();
		assertThat(target.running.await(1, TimeUnit.MINUTES)).isTrue();
		awaitRenewal();
		ConfigurableApplicationContext otherNode = start(3);
		for (String ref : refs) {
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> payments(otherNode).pay(ref));
		}
		target.mayEnd.countDown();
		for (int i = 0; i < refs.size(); i++) {
			assertThat(calls.get(i).get(1, TimeUnit.MINUTES)).isEqualTo("paid " + refs.get(i));
			assertThat(payments(otherNode).pay(refs.get(i))).isEqualTo("paid " + refs.get(i));
			assertThat(paid(refs.get(i))).isOne();
		}
	}

	/** Waits until all claims were renewed. */
	private void awaitRenewal() {
		JdbcTemplate jdbc = this.database.jdbc();
		long claimed = jdbc.queryForObject("select max(lease_until) from idempotency_record", Long.class);
		await()
			.until(() -> jdbc.queryForObject("select min(lease_until) from idempotency_record", Long.class) > claimed);
	}

	@Test
	void duplicatesInsideTransactionsGetTheirAnswer() {
		ConfigurableApplicationContext application = start(10);
		String ref = refs(1).get(0);
		payments(application).pay(ref);
		expectAnswers(application, ref);
	}

	@Test
	void duplicatesOfACallOfAnotherNodeGetTheirAnswer() {
		ConfigurableApplicationContext application = start(10);
		String ref = refs(1).get(0);
		payments(start(1)).pay(ref);
		expectAnswers(application, ref);
	}

	private void expectAnswers(ConfigurableApplicationContext application, String ref) {
		PoolApplication.Callers target = AopTestUtils.getTargetObject(callers(application));
		target.inside = new CountDownLatch(10);
		List<String> answers = ConcurrentDuplicates.of(24)
			.run((number) -> callers(application).callInside(ref))
			.valuesOrFail();
		assertThat(answers).hasSize(24).containsOnly("paid " + ref);
		assertThat(paid(ref)).isOne();
	}

	@Test
	void freshCallsInsideTransactionsRun() {
		ConfigurableApplicationContext application = start(10);
		PoolApplication.Callers target = AopTestUtils.getTargetObject(callers(application));
		target.inside = new CountDownLatch(10);
		List<String> refs = refs(24);
		ConcurrentDuplicates.of(24).run((number) -> callers(application).callInside(refs.get(number))).valuesOrFail();
		assertThat(refs).allSatisfy((ref) -> assertThat(paid(ref)).isOne());
	}

	/** Each holds a connection, and waits for the end of a future that is guarded. */
	@Test
	void futuresEndWhileTheirCallersHoldAllConnections() {
		ConfigurableApplicationContext application = start(3);
		PoolApplication.Callers target = AopTestUtils.getTargetObject(callers(application));
		target.inside = new CountDownLatch(3);
		List<String> refs = refs(3);
		List<String> answers = ConcurrentDuplicates.of(3)
			.run((number) -> callers(application).waitInside(refs.get(number), new CompletableFuture<>()))
			.valuesOrFail();
		assertThat(answers).containsExactlyInAnyOrderElementsOf(refs.stream().map((ref) -> "paid " + ref).toList());
	}

}
