package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A claim that hangs in its commit, as all commits do while a synchronous standby is
 * away, is seen by nobody and is there all the same.
 */
@EachDatabase(value = {},
		and = { Database.POSTGRESQL_18, Database.POSTGRESQL_16, Database.POSTGRESQL_WITH_SIMPLE_QUERIES,
				Database.POSTGRESQL_SERIALIZABLE_WITHOUT_AUTO_COMMIT, Database.MARIADB, Database.MYSQL_STATEMENTS })
class JdbcHungClaimTests {

	private final HikariDataSource pool;

	private final JdbcIdempotencyStore store;

	private final TransactionTemplate transaction;

	JdbcHungClaimTests(TestDatabase database) {
		this.pool = database.newPool(4);
		this.store = new JdbcIdempotencyStore(this.pool, Tables.RECORDS, Duration.ofMillis(200), Duration.ofSeconds(2));
		this.transaction = new TransactionTemplate(new DataSourceTransactionManager(this.pool));
	}

	@AfterEach
	void stop() {
		this.pool.close();
	}

	@Test
	void giveBackOfAFreshKeyWaitsForTheClaim() {
		expectWaits(Requests.claim());
	}

	@Test
	void giveBackOfATokenWaitsForTheClaim() {
		IdempotencyKey token = IdempotencyKey.ofToken(Caller.GLOBAL, UUID.randomUUID().toString());
		this.store.issue(token, Requests.LONG);
		expectWaits(Requests.claim(token));
	}

	@Test
	void giveBackWaitsForTheClaimThatReplacesAnExpiredRecord() {
		ClaimRequest before = Requests.claim(Requests.key(), Requests.SHORT, Requests.SHORT);
		Requests.acquire(this.store, before);
		expectWaits(Requests.claim(before.key()));
	}

	private void expectWaits(ClaimRequest request) {
		this.transaction.executeWithoutResult((status) -> {
			assertThat(this.store.joining().orElseThrow().claim(request)).isInstanceOf(ClaimResult.Acquired.class);
			CompletableFuture<Boolean> giveBack = new CompletableFuture<>();
			giveBack.completeAsync(() -> this.store.release(request.key(), request.claimId()), SchedulerThread::start);
			assertThatExceptionOfType(CompletionException.class).isThrownBy(giveBack::join)
				.withCauseInstanceOf(IdempotencyStoreException.class);
		});
		assertThat(this.store.release(request.key(), request.claimId())).isTrue();
		assertThat(this.store.claim(Requests.claim(request.key()))).isInstanceOf(ClaimResult.Acquired.class);
	}

}
