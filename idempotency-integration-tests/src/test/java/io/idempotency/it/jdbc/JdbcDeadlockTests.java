package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresMySql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.OwnThread;
import io.idempotency.key.Caller;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.StoredResult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * InnoDB ends deadlocks by rolling one transaction back, and sometimes that is ours.
 */
class JdbcDeadlockTests {

	@Nested
	@RequiresMariaDb
	class MariaDb extends Deadlocks {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase();
		}

	}

	@Nested
	@RequiresMySql
	class MySql extends Deadlocks {

		@Override
		SqlDatabase database() {
			return RealMySql.newDatabase();
		}

	}

	abstract static class Deadlocks {

		private SqlDatabase database;

		private JdbcTemplate jdbc;

		private TransactionTemplate transaction;

		private JdbcNode node;

		abstract SqlDatabase database();

		@BeforeEach
		void start() {
			this.database = database();
			Tables.create(this.database);
			HikariDataSource pool = this.database.pool(8);
			this.jdbc = new JdbcTemplate(pool);
			this.jdbc.execute("create table ballast (id int primary key)");
			this.transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
			this.node = new JdbcNode(pool);
		}

		@AfterEach
		void stop() {
			this.node.close();
		}

		@Test
		void completionThatIsTheVictimOfADeadlockIsRepeated() throws Exception {
			Claim claim = claim(this.node.store(), request());
			long before = deadlocks();
			CompletableFuture<Boolean> completion = new CompletableFuture<>();
			this.transaction.executeWithoutResult((status) -> {
				// The heavier transaction is spared.
				for (int i = 0; i < 200; i++) {
					this.jdbc.update("insert into ballast values (?)", i);
				}
				// The index alone is locked, then the completion locks the record and
				// wants
				// the index, and then this transaction wants the record.
				this.jdbc.queryForList("select kept_until from " + Tables.RECORDS + " force index (" + Tables.RECORDS
						+ "_kept_until) where kept_until > 0 lock in share mode");
				completion.completeAsync(
						() -> this.node.store()
							.complete(Completion.result(claim, Fingerprint.NONE,
									new StoredResult("text", new byte[] { 'x' }), Duration.ofMinutes(5))),
						OwnThread::start);
				await().atMost(Duration.ofSeconds(30)).until(this::somebodyWaits);
				assertThat(this.jdbc.update("update " + Tables.RECORDS + " set attempts = attempts + 1")).isEqualTo(1);
			});
			assertThat(completion.get(60, TimeUnit.SECONDS)).isTrue();
			assertThat(deadlocks() - before).as("deadlocks").isEqualTo(1);
			assertThat(this.node.store().claim(request(claim.key()))).isInstanceOf(ClaimResult.Completed.class);
		}

		private boolean somebodyWaits() {
			return this.database.jdbc()
				.queryForObject("select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'",
						Integer.class) == 1;
		}

		private long deadlocks() {
			Long count = this.database.jdbc()
				.queryForObject("select count from information_schema.innodb_metrics where name = 'lock_deadlocks'",
						Long.class);
			return (count != null) ? count : 0;
		}

		private static Claim claim(IdempotencyStore store, ClaimRequest request) {
			ClaimResult result = store.claim(request);
			assertThat(result).isInstanceOf(ClaimResult.Acquired.class);
			return ((ClaimResult.Acquired) result).claim();
		}

		private static ClaimRequest request() {
			return request(IdempotencyKey.of("test", Caller.GLOBAL, UUID.randomUUID().toString()));
		}

		private static ClaimRequest request(IdempotencyKey key) {
			return new ClaimRequest(key, ClaimId.random(), Fingerprint.NONE, ClaimType.LEASED, Duration.ofMinutes(5),
					Duration.ofHours(1), true);
		}

	}

}
