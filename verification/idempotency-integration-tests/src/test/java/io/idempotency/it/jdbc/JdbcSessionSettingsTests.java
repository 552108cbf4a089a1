package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.store.SchedulerThread;
import io.idempotency.it.store.Requests;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The application lets its sessions run each statement for a moment only, and that is no
 * failure of the store, which has bounds of its own.
 */
@Nightly
@EachDatabase(value = {}, and = { Database.POSTGRESQL_18, Database.MARIADB })
@StoreAlone
class JdbcSessionSettingsTests {

	private final Database type;

	private final HikariDataSource pool;

	private final IdempotencyStore store;

	private final TransactionTemplate transaction;

	private final JdbcTemplate jdbc;

	JdbcSessionSettingsTests(TestDatabase database) {
		this.type = database.type();
		String hurry = (database.type() == Database.MARIADB) ? "set session max_statement_time = 2"
				: "set statement_timeout = '2s'";
		this.pool = database.newPool(4, (config) -> config.setConnectionInitSql(hurry));
		this.store = new JdbcIdempotencyStore(this.pool, Tables.RECORDS, Duration.ofSeconds(5), Duration.ofSeconds(60));
		this.transaction = new TransactionTemplate(new DataSourceTransactionManager(this.pool));
		this.jdbc = new JdbcTemplate(this.pool);
		database.jdbc().execute("create table if not exists work_done (id varchar(100) not null)");
	}

	@AfterEach
	void stop() {
		this.pool.close();
	}

	@Test
	void claimThatWaitsForATransactionIsInProgress() throws Exception {
		IdempotencyKey key = Requests.key();
		whileClaimed(key,
				() -> assertThat(this.store.claim(Requests.claim(key))).isInstanceOf(ClaimResult.InProgress.class));
	}

	@Test
	void joinedClaimThatWaitsForATransactionIsInProgressAndItsOwnGoesOn() throws Exception {
		IdempotencyKey key = Requests.key();
		IdempotencyStore joining = this.store.joining().orElseThrow();
		whileClaimed(key, () -> this.transaction.executeWithoutResult((status) -> {
			this.jdbc.update("insert into work_done (id) values (?)", key.hashHex());
			assertThat(joining.claim(Requests.claim(key))).isInstanceOf(ClaimResult.InProgress.class);
		}));
		assertThat(this.jdbc.queryForObject("select count(*) from work_done where id = ?", Long.class, key.hashHex()))
			.isOne();
	}

	@Test
	void claimInATransactionOfItsOwnThatWaitsForAnotherIsInProgress() throws Exception {
		IdempotencyKey key = Requests.key();
		IdempotencyStore joining = this.store.joining().orElseThrow();
		whileClaimed(key, () -> this.transaction.executeWithoutResult((status) -> {
			assertThat(joining.claim(Requests.claim(key).withNewTransaction(true)))
				.isInstanceOf(ClaimResult.InProgress.class);
			status.setRollbackOnly();
		}));
	}

	/**
	 * Fresh, found by the claim, and found expired by it, which takes more statements.
	 */
	@Test
	void workIsUnderTheBoundsOfItsOwnSession() {
		String bound = (this.type == Database.MARIADB) ? "select @@session.innodb_lock_wait_timeout"
				: "show lock_timeout";
		this.transaction.executeWithoutResult((status) -> {
			if (this.type != Database.MARIADB) {
				this.jdbc.execute("set local lock_timeout = '77s'");
			}
			String before = this.jdbc.queryForObject(bound, String.class);
			IdempotencyKey key = Requests.key();
			IdempotencyKey expired = Requests.key();
			this.store.claim(Requests.claim(expired, Requests.SHORT, Requests.SHORT));
			IdempotencyStore joining = this.store.joining().orElseThrow();
			for (IdempotencyKey claimed : List.of(key, key, expired)) {
				joining.claim(Requests.claim(claimed).withNewTransaction(true));
				assertThat(this.jdbc.queryForObject(bound, String.class)).isEqualTo(before);
			}
		});
	}

	/** Another transaction has claimed the key, and has not ended. */
	private void whileClaimed(IdempotencyKey key, Runnable duplicate) throws Exception {
		CountDownLatch claimed = new CountDownLatch(1);
		CountDownLatch mayEnd = new CountDownLatch(1);
		CompletableFuture<Void> owner = SchedulerThread.run(() -> this.transaction.executeWithoutResult((status) -> {
			Requests.acquire(this.store.joining().orElseThrow(), Requests.claim(key));
			claimed.countDown();
			await(mayEnd);
		}));
		await(claimed);
		try {
			duplicate.run();
		}
		finally {
			mayEnd.countDown();
		}
		owner.get(1, TimeUnit.MINUTES);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(1, TimeUnit.MINUTES)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

}
