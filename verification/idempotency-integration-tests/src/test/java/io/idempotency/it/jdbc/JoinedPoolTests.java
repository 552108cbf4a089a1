package io.idempotency.it.jdbc;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.SchedulerThread;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Duplicates of a slow call whose record is in its transaction leave the connections of
 * the application to others.
 */
@Requires(Backend.POSTGRESQL)
@StoreAlone
class JoinedPoolTests {

	private static final int DUPLICATES = 5;

	private final String ref = UUID.randomUUID().toString();

	private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

	private final HikariDataSource pool = this.database.pool(3);

	private final ConfigurableApplicationContext application = PoolApplication.start(this.pool,
			PoolApplication.Callers.class, "idempotency.wait-timeout=1m");

	private final PoolApplication.Payments payments = this.application.getBean(PoolApplication.Payments.class);

	private final PoolApplication.Payments target = AopTestUtils.getTargetObject(this.payments);

	@BeforeEach
	void isSlow() {
		this.target.running = new CountDownLatch(1);
		this.target.mayEnd = new CountDownLatch(1);
	}

	@AfterEach
	void stop() {
		this.target.mayEnd.countDown();
		this.application.close();
	}

	private CompletableFuture<String> begin(Supplier<String> call) throws Exception {
		CompletableFuture<String> begun = SchedulerThread.supply(call);
		assertThat(this.target.running.await(1, TimeUnit.MINUTES)).isTrue();
		return begun;
	}

	@Test
	void waitingDuplicatesHoldNoConnection() throws Exception {
		CompletableFuture<String> first = begin(() -> this.payments.join(this.ref));
		List<CompletableFuture<String>> duplicates = Stream
			.generate(() -> SchedulerThread.supply(() -> this.payments.join(this.ref)))
			.limit(DUPLICATES)
			.toList();
		IdempotencyEngine engine = this.application.getBean(IdempotencyEngine.class);
		await().until(() -> engine.load().waiters() == DUPLICATES);
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isOne();
		this.target.mayEnd.countDown();
		assertThat(first.get(1, TimeUnit.MINUTES)).isEqualTo("paid " + this.ref);
		for (CompletableFuture<String> duplicate : duplicates) {
			assertThat(duplicate.get(1, TimeUnit.MINUTES)).isEqualTo("paid " + this.ref);
		}
		assertThat(paid()).isOne();
	}

	@Test
	void duplicateThatDoesNotWaitIsRejectedAtOnce() throws Exception {
		CompletableFuture<String> first = begin(() -> this.payments.joinAtOnce(this.ref));
		for (int i = 0; i < DUPLICATES; i++) {
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> this.payments.joinAtOnce(this.ref));
		}
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isOne();
		assertThat(first).isNotDone();
		this.target.mayEnd.countDown();
		first.get(1, TimeUnit.MINUTES);
		assertThat(this.payments.joinAtOnce(this.ref)).isEqualTo("paid " + this.ref);
		assertThat(paid()).isOne();
	}

	@Test
	void anotherCallWithTheKeyIsToldSoWhileTheFirstRuns() throws Exception {
		CompletableFuture<String> first = begin(() -> this.payments.joinAmount(this.ref, 1));
		assertThatExceptionOfType(IdempotencyKeyReusedException.class)
			.isThrownBy(() -> this.payments.joinAmount(this.ref, 2));
		assertThat(first).isNotDone();
		this.target.mayEnd.countDown();
		first.get(1, TimeUnit.MINUTES);
		assertThat(paid()).isOne();
	}

	@Test
	void duplicateInModeRejectIsCountedWhileTheFirstRuns() throws Exception {
		CompletableFuture<String> first = begin(() -> this.payments.joinOnce(this.ref));
		CompletableFuture<String> duplicate = SchedulerThread.supply(() -> this.payments.joinOnce(this.ref));
		await().until(() -> duplicate.isDone() || this.pool.getHikariPoolMXBean().getActiveConnections() == 2);
		this.target.mayEnd.countDown();
		first.get(1, TimeUnit.MINUTES);
		assertThat(duplicate).failsWithin(1, TimeUnit.MINUTES)
			.withThrowableThat()
			.havingCause()
			.isInstanceOfSatisfying(IdempotencyDuplicateException.class,
					(rejection) -> assertThat(rejection.attempts()).isEqualTo(2));
		assertThat(paid()).isOne();
	}

	private long paid() {
		return this.database.jdbc().queryForObject("select count(*) from payment where ref = ?", Long.class, this.ref);
	}

}
