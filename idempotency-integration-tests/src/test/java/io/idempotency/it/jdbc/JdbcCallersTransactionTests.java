package io.idempotency.it.jdbc;

import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RealMySql;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresMySql;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.OwnThread;
import io.idempotency.it.store.Runs;
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
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Guarded calls inside a transaction of the caller, whose pool the store uses.
 */
class JdbcCallersTransactionTests {

	@Nested
	@RequiresPostgreSql
	class PostgreSql extends CallersTransaction {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDb extends CallersTransaction {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase();
		}

	}

	@Nested
	@RequiresMySql
	class MySql extends CallersTransaction {

		@Override
		SqlDatabase database() {
			return RealMySql.newDatabase();
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class CallersTransaction {

		private final Runs runs = new Runs();

		private JdbcTemplate jdbc;

		private JdbcNode node;

		private TransactionTemplate transaction;

		abstract SqlDatabase database();

		@BeforeAll
		void start() {
			SqlDatabase database = database();
			Tables.create(database);
			database.jdbc().execute("create table payment (id varchar(100) primary key)");
			HikariDataSource pool = database.pool(4);
			this.jdbc = new JdbcTemplate(pool);
			this.node = new JdbcNode(pool);
			this.transaction = new TransactionTemplate(new DataSourceTransactionManager(pool));
		}

		@AfterAll
		void stop() {
			this.node.close();
		}

		@Test
		void duplicatesLeaveTheTransactionAsItWas() {
			String done = freshKey();
			this.node.call(done).fingerprint("one").execute(String.class, () -> this.runs.run(done));
			String running = freshKey();
			this.node.execute(running, () -> {
				this.transaction.executeWithoutResult((status) -> {
					pay(done);
					assertThat(this.node.call(done).fingerprint("one").execute(String.class, () -> "again"))
						.isEqualTo(done + " run 1");
					assertThatExceptionOfType(IdempotencyKeyReusedException.class)
						.isThrownBy(() -> this.node.call(done).fingerprint("two").execute(String.class, () -> "again"));
					assertThatExceptionOfType(IdempotencyInProgressException.class)
						.isThrownBy(() -> this.node.execute(running, () -> "again"));
					pay(running);
				});
				return this.runs.run(running);
			});
			assertThat(paid(done)).isTrue();
			assertThat(paid(running)).isTrue();
		}

		@Test
		void duplicatesLeaveATransactionThatReadEarlyAsItWas() {
			TransactionTemplate strict = new TransactionTemplate(this.transaction.getTransactionManager());
			strict.setIsolationLevel(TransactionDefinition.ISOLATION_REPEATABLE_READ);
			String key = freshKey();
			strict.executeWithoutResult((status) -> {
				// The view of the transaction begins here.
				assertThat(paid(key)).isFalse();
				inAnotherThread(() -> this.node.execute(key, () -> this.runs.run(key)));
				assertThat(this.node.execute(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
				pay(key);
			});
			assertThat(paid(key)).isTrue();
			assertThat(this.runs.of(key)).isEqualTo(1);
		}

		@Test
		void recordOutlivesTheRollbackOfTheCaller() {
			String key = freshKey();
			assertThatIllegalStateException().isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				this.node.execute(key, () -> {
					pay(key);
					return this.runs.run(key);
				});
				throw new IllegalStateException();
			}));
			assertThat(paid(key)).as("rolled back").isFalse();
			assertThat(this.node.execute(key, () -> this.runs.run(key))).as("SEPARATE, as it says")
				.isEqualTo(key + " run 1");
		}

		@Test
		void duplicateSeesTheClaimOfATransactionThatIsNotCommitted() {
			String key = freshKey();
			this.transaction.executeWithoutResult((status) -> this.node.execute(key, () -> {
				pay(key);
				inAnotherThread(() -> assertThatExceptionOfType(IdempotencyInProgressException.class)
					.isThrownBy(() -> this.node.execute(key, () -> this.runs.run(key))));
				return this.runs.run(key);
			}));
			assertThat(this.runs.of(key)).isEqualTo(1);
		}

		private void pay(String id) {
			this.jdbc.update("insert into payment values (?)", id);
		}

		private boolean paid(String id) {
			return !this.jdbc.queryForList("select id from payment where id = ?", id).isEmpty();
		}

		private static void inAnotherThread(Runnable action) {
			OwnThread.run(action).join();
		}

		private static String freshKey() {
			return UUID.randomUUID().toString();
		}

	}

}
