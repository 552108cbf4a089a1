package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresMySql;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
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
import io.idempotency.store.TransactionLostException;
import io.idempotency.test.DuplicateStorm;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A storm of transactions that claim, pay and commit together, a quarter of which is
 * rolled back.
 */
class JdbcJoinTests {

	private static final int KEYS = 40;

	private static final int THREADS = 16;

	@Nested
	@RequiresPostgreSql
	class PostgreSql extends Joins {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDb extends Joins {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase();
		}

	}

	@Nested
	@RequiresMySql
	class MySql extends Joins {

		@Override
		SqlDatabase database() {
			return RealMySql.newDatabase();
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class Joins {

		private JdbcTemplate jdbc;

		private DataSourceTransactionManager transactions;

		private JdbcNode node;

		abstract SqlDatabase database();

		@BeforeAll
		void start() {
			SqlDatabase database = database();
			Tables.create(database);
			database.jdbc().execute("create table payment (id varchar(36) primary key, intent varchar(100))");
			HikariDataSource pool = database.pool(THREADS + 1);
			this.jdbc = new JdbcTemplate(pool);
			this.transactions = new DataSourceTransactionManager(pool);
			this.node = new JdbcNode(pool);
		}

		@AfterAll
		void stop() {
			this.node.close();
		}

		@Test
		void everyKeyIsPaidOnceAtReadCommitted() {
			storm(TransactionDefinition.ISOLATION_READ_COMMITTED);
		}

		@Test
		void everyKeyIsPaidOnceAtRepeatableRead() {
			storm(TransactionDefinition.ISOLATION_REPEATABLE_READ);
		}

		@Test
		void everyKeyIsPaidOnceAtSerializable() {
			storm(TransactionDefinition.ISOLATION_SERIALIZABLE);
		}

		private void storm(int isolation) {
			TransactionTemplate transaction = new TransactionTemplate(this.transactions);
			transaction.setIsolationLevel(isolation);
			String unique = UUID.randomUUID().toString();
			List<String> intents = IntStream.range(0, KEYS).mapToObj((number) -> unique + "-" + number).toList();
			AtomicInteger rolledBack = new AtomicInteger();
			List<Integer> threads = DuplicateStorm.of(THREADS).run((thread) -> {
				for (String intent : intents) {
					while (!paid(transaction, intent, rolledBack)) {
						Thread.onSpinWait();
					}
				}
				return thread;
			}).valuesOrFail();
			assertThat(threads).hasSize(THREADS);
			assertThat(rolledBack).hasPositiveValue();
			assertThat(this.jdbc.queryForList("select intent from payment where intent like ?", String.class,
					unique + "%"))
				.containsExactlyInAnyOrderElementsOf(intents);
		}

		/** One call of a client that comes again until it has an answer. */
		private boolean paid(TransactionTemplate transaction, String intent, AtomicInteger rolledBack) {
			ClaimRequest request = new ClaimRequest(IdempotencyKey.of("test", Caller.GLOBAL, intent), ClaimId.random(),
					Fingerprint.NONE, ClaimType.LEASED, Duration.ofMinutes(5), Duration.ofHours(1), true);
			boolean rollBack = ThreadLocalRandom.current().nextInt(4) == 0;
			ClaimResult result;
			try {
				result = transaction.execute((status) -> {
					ClaimResult answer = pay(request, intent);
					if (rollBack && answer instanceof ClaimResult.Acquired) {
						rolledBack.incrementAndGet();
						status.setRollbackOnly();
					}
					return answer;
				});
			}
			catch (TransactionLostException ex) {
				return false;
			}
			if (!(result instanceof ClaimResult.Acquired acquired)) {
				return result instanceof ClaimResult.Completed;
			}
			return !rollBack && this.node.store().complete(completion(acquired.claim()));
		}

		private @Nullable ClaimResult pay(ClaimRequest request, String intent) {
			IdempotencyStore joining = this.node.store().joining().orElseThrow();
			ClaimResult answer = joining.claim(request);
			if (answer instanceof ClaimResult.Acquired acquired) {
				this.jdbc.update("insert into payment values (?, ?)", UUID.randomUUID().toString(), intent);
				assertThat(joining.complete(Completion.executed(acquired.claim(), Fingerprint.NONE,
						Duration.ofMinutes(1), Duration.ofHours(1))))
					.isTrue();
			}
			return answer;
		}

		private static Completion completion(Claim claim) {
			return Completion.result(claim, Fingerprint.NONE, new StoredResult("text", new byte[] { 'x' }),
					Duration.ofHours(1));
		}

	}

}
