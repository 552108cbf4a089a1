package io.idempotency.it.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.StoreFailureMode;
import io.idempotency.it.StoreAlone;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.MySqlServer;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RequiresMariaDb;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.SqlServer;
import io.idempotency.it.store.Callers;
import io.idempotency.it.store.Runs;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.condition.EnabledIf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to database servers, and how often the guarded calls ran.
 */
@StoreAlone
class JdbcServerFaultTests {

	@Nested
	@RequiresPostgreSql
	class PostgreSql extends ServerFaults {

		@Override
		SqlServer startServer() {
			return PostgreSqlServer.start(PostgreSqlBinary.POSTGRESQL_18);
		}

		@Override
		String silenceIsAnErrorAfterOneSecond() {
			return "?socketTimeout=1&connectTimeout=1";
		}

	}

	@Nested
	@RequiresMariaDb
	class MariaDb extends ServerFaults {

		@Override
		SqlServer startServer() {
			return MariaDbServer.start();
		}

		@Override
		String silenceIsAnErrorAfterOneSecond() {
			return "?socketTimeout=1000&connectTimeout=1000";
		}

	}

	@Nested
	@Tag("mysql")
	@EnabledIf("io.idempotency.it.servers.MySqlServer#isHere")
	class MySql extends ServerFaults {

		@Override
		SqlServer startServer() {
			return MySqlServer.start();
		}

		@Override
		String silenceIsAnErrorAfterOneSecond() {
			return "&socketTimeout=1000&connectTimeout=1000";
		}

	}

	@TestInstance(Lifecycle.PER_CLASS)
	abstract static class ServerFaults {

		private SqlServer server;

		private SqlDatabase database;

		private Runs runs;

		private JdbcNode one;

		private JdbcNode two;

		abstract SqlServer startServer();

		abstract String silenceIsAnErrorAfterOneSecond();

		@BeforeAll
		void start() {
			this.server = startServer();
			this.database = this.server.newDatabase();
			Tables.create(this.database);
		}

		@BeforeEach
		void connect() {
			this.runs = new Runs();
			this.one = new JdbcNode(impatientPool());
			this.two = new JdbcNode(impatientPool());
			for (JdbcNode node : List.of(this.one, this.two)) {
				assertThat(node.executeUntilAnswered(freshKey(), () -> "connected")).isEqualTo("connected");
			}
		}

		private HikariDataSource impatientPool() {
			SqlDatabase impatient = new SqlDatabase(this.database.url() + silenceIsAnErrorAfterOneSecond(),
					this.database.port(), this.database.user());
			return impatient.pool(4, (config) -> {
				config.setConnectionTimeout(2_000);
				config.setValidationTimeout(1_000);
			});
		}

		@AfterEach
		void disconnect() {
			this.one.close();
			this.two.close();
		}

		@AfterAll
		void stop() {
			this.server.close();
		}

		@Test
		void serverThatIsKilledForgetsNothing() throws Exception {
			List<String> keys = new Callers(List.of(this.one, this.two), this.runs).callWhile(() -> {
				this.server.kill();
				this.server.restart();
			});
			expectReplays(keys);
		}

		@Test
		void serverThatStandsStillMakesNothingRunTwice() throws Exception {
			List<String> keys = new Callers(List.of(this.one, this.two), this.runs).callWhile(() -> {
				this.server.pause();
				await().atMost(Duration.ofSeconds(60))
					.until(() -> this.one.count(IdempotencyEvent.STORE_UNAVAILABLE) > 0);
				this.server.resume();
			});
			expectReplays(keys);
		}

		@Test
		void callThatRunsWhileItsServerIsKilledKeepsItsClaim() {
			String key = freshKey();
			String result = this.one.execute(key, () -> {
				this.server.kill();
				this.server.restart();
				assertThat(this.two.executeUntilAnswered(freshKey(), () -> "connected")).isEqualTo("connected");
				assertThatExceptionOfType(IdempotencyInProgressException.class)
					.isThrownBy(() -> this.two.execute(key, () -> this.runs.run(key)));
				return this.runs.run(key);
			});
			assertThat(result).isEqualTo(key + " run 1");
			expectReplays(List.of(key));
		}

		@Test
		void serverThatIsDownLetsNothingRun() {
			String key = freshKey();
			whileDown(() -> {
				assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
					.isThrownBy(() -> this.one.execute(key, () -> this.runs.run(key)))
					.satisfies((ex) -> assertThat(ex.retryAfter()).isPositive());
				return "refused";
			});
			assertThat(this.runs.of(key)).isZero();
			assertThat(this.one.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
			expectReplays(List.of(key));
		}

		@Test
		void serverThatIsDownLetsOneUnguardedCallRunWhereThatIsWanted() {
			try (JdbcNode node = new JdbcNode(impatientPool(), StoreFailureMode.PROCEED)) {
				node.executeUntilAnswered(freshKey(), () -> "connected");
				String key = freshKey();
				String result = whileDown(() -> node.execute(key, () -> this.runs.run(key)));
				assertThat(result).isEqualTo(key + " run 1");
				assertThat(this.runs.of(key)).isEqualTo(1);
				assertThat(node.count(IdempotencyEvent.UNGUARDED)).isEqualTo(1);
			}
		}

		@Test
		void serverThatGoesDownAfterSuccessKeepsNobodyFromHisAnswer() {
			String key = freshKey();
			String result = this.one.execute(key, () -> {
				this.server.kill();
				return this.runs.run(key);
			});
			assertThat(result).isEqualTo(key + " run 1");
			this.server.restart();
			expectReplays(List.of(key));
			assertThat(this.one.count(IdempotencyEvent.STORE_RETRY)).isPositive();
		}

		private <T> T whileDown(Supplier<T> call) {
			this.server.kill();
			try {
				return call.get();
			}
			finally {
				this.server.restart();
			}
		}

		private void expectReplays(List<String> keys) {
			for (String key : keys) {
				assertThat(this.two.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
			}
			this.runs.expectOneOf(keys);
		}

		private static String freshKey() {
			return UUID.randomUUID().toString();
		}

	}

}
