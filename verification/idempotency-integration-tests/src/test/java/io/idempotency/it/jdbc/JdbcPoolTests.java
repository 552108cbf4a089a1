package io.idempotency.it.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.store.Runs;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The application and the store share a pool, which is smaller than the crowd.
 */
@Requires(Backend.POSTGRESQL)
@StoreAlone
class JdbcPoolTests {

	private static final int DUPLICATES = 128;

	private static final int POOL = 10;

	private final Runs runs = new Runs();

	private SqlDatabase database;

	private JdbcNode other;

	@BeforeEach
	void start() {
		this.database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_18).newDatabase();
		Tables.create(this.database);
		this.other = new JdbcNode(this.database.pool(2));
	}

	@AfterEach
	void stop() {
		this.other.close();
	}

	@Test
	void waitingDuplicatesLeaveTheConnectionsToOthers() throws Exception {
		HikariDataSource pool = this.database.pool(POOL);
		CountingDataSource dataSource = new CountingDataSource(pool);
		ExecutorService threads = Executors.newFixedThreadPool(2);
		CountDownLatch running = new CountDownLatch(1);
		CountDownLatch mayEnd = new CountDownLatch(1);
		try (JdbcNode node = new JdbcNode(dataSource, pool)) {
			String key = freshKey();
			CompletableFuture<String> owner = CompletableFuture.supplyAsync(() -> node.execute(key, () -> {
				running.countDown();
				await().atMost(Duration.ofMinutes(1)).until(() -> mayEnd.getCount() == 0);
				return this.runs.run(key);
			}), threads);
			assertThat(running.await(60, TimeUnit.SECONDS)).isTrue();
			int before = dataSource.executed();
			CompletableFuture<List<String>> duplicates = CompletableFuture
				.supplyAsync(() -> ConcurrentDuplicates.of(DUPLICATES)
					.run((number) -> node.call(key)
						.conflict(ConflictMode.WAIT)
						.waitTimeout(Duration.ofMinutes(1))
						.execute(String.class, () -> this.runs.run(key)))
					.valuesOrFail(), threads);
			await().atMost(Duration.ofSeconds(60)).until(() -> dataSource.executed() >= before + DUPLICATES);
			for (int i = 0; i < 50; i++) {
				String another = freshKey();
				assertThat(node.execute(another, () -> this.runs.run(another))).isEqualTo(another + " run 1");
			}
			await().pollInterval(Duration.ofMillis(1)).until(() -> dataSource.held() == 0);
			assertThat(duplicates).as("the duplicates still wait").isNotDone();
			mayEnd.countDown();
			assertThat(owner.get(60, TimeUnit.SECONDS)).isEqualTo(key + " run 1");
			assertThat(duplicates.get(60, TimeUnit.SECONDS)).hasSize(DUPLICATES).containsOnly(key + " run 1");
			assertThat(this.runs.of(key)).isEqualTo(1);
		}
		finally {
			mayEnd.countDown();
			threads.shutdownNow();
		}
	}

	@Test
	void exhaustedPoolLetsNothingRun() throws Exception {
		HikariDataSource pool = smallPool();
		try (JdbcNode node = new JdbcNode(pool)) {
			String key = freshKey();
			List<Connection> taken = takeAll(pool);
			assertThatExceptionOfType(IdempotencyStoreUnavailableException.class)
				.isThrownBy(() -> node.execute(key, () -> this.runs.run(key)));
			assertThat(this.runs.of(key)).isZero();
			giveBack(taken);
			assertThat(node.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
			expectReplay(key);
		}
	}

	@Test
	void poolThatTheWorkExhaustsKeepsNobodyFromHisAnswer() throws Exception {
		HikariDataSource pool = smallPool();
		List<Connection> taken = new ArrayList<>();
		try (JdbcNode node = new JdbcNode(pool)) {
			String key = freshKey();
			String result = node.execute(key, () -> {
				taken.addAll(takeAll(pool));
				return this.runs.run(key);
			});
			assertThat(result).isEqualTo(key + " run 1");
			giveBack(taken);
			expectReplay(key);
		}
	}

	/** With time to open its connections, and no more. */
	private HikariDataSource smallPool() throws SQLException {
		HikariDataSource pool = this.database.pool(3, (config) -> config.setConnectionTimeout(3000));
		giveBack(takeAll(pool));
		return pool;
	}

	private static List<Connection> takeAll(HikariDataSource pool) {
		List<Connection> taken = new ArrayList<>();
		try {
			while (taken.size() < pool.getMaximumPoolSize()) {
				taken.add(pool.getConnection());
			}
			return taken;
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The pool is smaller than it should be", ex);
		}
	}

	private static void giveBack(List<Connection> taken) throws SQLException {
		for (Connection connection : taken) {
			connection.close();
		}
	}

	private void expectReplay(String key) {
		assertThat(this.other.executeUntilAnswered(key, () -> this.runs.run(key))).isEqualTo(key + " run 1");
		assertThat(this.runs.of(key)).isEqualTo(1);
	}

	private static String freshKey() {
		return UUID.randomUUID().toString();
	}

}
