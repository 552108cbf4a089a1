package io.idempotency.it.jdbc;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.AbandonedMode;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.engine.IdempotencyEvent;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RequiresPostgreSql;
import io.idempotency.it.servers.SqlDatabase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The JVM of an owner is killed while its calls run; its effects are counted in the
 * database, where they survive.
 */
@RequiresPostgreSql
class JdbcDeadOwnerTests {

	private static final Duration LEASE = Duration.ofSeconds(2);

	private final SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();

	private final HikariDataSource pool;

	private final JdbcNode survivor;

	JdbcDeadOwnerTests() {
		Tables.create(this.database);
		this.database.jdbc().execute("create table effect (ref varchar(100))");
		this.pool = this.database.pool(4);
		this.survivor = new JdbcNode(this.pool);
	}

	@AfterEach
	void stop() {
		this.survivor.close();
	}

	@Test
	void callOfADeadOwnerIsTakenOverOnceOrRefused() throws Exception {
		String rerun = UUID.randomUUID().toString();
		String refuse = UUID.randomUUID().toString();
		Process owner = startOwner(rerun, refuse);
		try {
			// Longer than the lease: the owner lives, so its claims do.
			await().pollDelay(LEASE.plusSeconds(1)).until(() -> true);
			assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> execute(rerun));
			assertThatExceptionOfType(IdempotencyInProgressException.class).isThrownBy(() -> execute(refuse));
			owner.destroyForcibly().waitFor();
			assertThat(this.survivor.executeUntilAnswered(rerun, () -> run(this.pool, rerun))).isEqualTo("run 2");
			assertThat(execute(rerun)).isEqualTo("run 2");
			assertThat(runs(this.pool, rerun)).as("runs: of the dead owner and of its successor").isEqualTo(2);
			assertThat(this.survivor.count(IdempotencyEvent.TAKEN_OVER)).isEqualTo(1);
			await().atMost(Duration.ofSeconds(60))
				.ignoreException(IdempotencyInProgressException.class)
				.untilAsserted(() -> assertThatExceptionOfType(IdempotencyOutcomeUnknownException.class)
					.isThrownBy(() -> this.survivor.call(refuse)
						.onAbandoned(AbandonedMode.REFUSE)
						.execute(String.class, () -> run(this.pool, refuse))));
			assertThat(runs(this.pool, refuse)).as("runs: of the dead owner alone").isEqualTo(1);
		}
		finally {
			owner.destroyForcibly();
		}
	}

	private String execute(String key) {
		return this.survivor.execute(key, () -> run(this.pool, key));
	}

	private static String run(HikariDataSource pool, String key) {
		new JdbcTemplate(pool).update("insert into effect (ref) values (?)", key);
		return "run " + runs(pool, key);
	}

	private static int runs(HikariDataSource pool, String key) {
		return new JdbcTemplate(pool).queryForObject("select count(*) from effect where ref = ?", Integer.class, key);
	}

	private Process startOwner(String... keys) throws Exception {
		String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
		Process owner = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), Owner.class.getName(),
				this.database.url(), this.database.user(), String.join(",", keys))
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		BufferedReader output = new BufferedReader(
				new InputStreamReader(owner.getInputStream(), StandardCharsets.UTF_8));
		String line = output.readLine();
		while (line != null && !line.equals("running")) {
			line = output.readLine();
		}
		assertThat(line).as("the owner runs").isEqualTo("running");
		return owner;
	}

	/** Starts one call for each key, and none of them ends. */
	static final class Owner {

		private Owner() {
		}

		public static void main(String[] args) throws Exception {
			HikariDataSource pool = new HikariDataSource();
			pool.setJdbcUrl(args[0]);
			pool.setUsername(args[1]);
			pool.setPassword("");
			String[] keys = args[2].split(",");
			CountDownLatch running = new CountDownLatch(keys.length);
			JdbcNode node = new JdbcNode(pool);
			for (String key : keys) {
				new Thread(() -> node.call(key).lease(LEASE).execute(String.class, () -> {
					run(pool, key);
					running.countDown();
					return await().forever().until(() -> "never", (value) -> false);
				})).start();
			}
			running.await();
			System.out.println("running");
			Thread.currentThread().join();
		}

	}

}
