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
import io.idempotency.it.servers.StoreAlone;
import io.idempotency.it.servers.SqlServer;
import io.idempotency.it.store.Callers;
import io.idempotency.it.store.Runs;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to database servers, and how often the guarded calls ran.
 */
@EachDatabase(having = Product.Trait.SERVER, ownServer = true)
@StoreAlone
class JdbcServerFaultTests {

	private final TestDatabase database;

	private final SqlServer server;

	private final Runs runs = new Runs();

	private final JdbcNode one;

	private final JdbcNode two;

	JdbcServerFaultTests(TestDatabase database) {
		this.database = database;
		this.server = database.server();
		this.one = new JdbcNode(impatientPool());
		this.two = new JdbcNode(impatientPool());
		for (JdbcNode node : List.of(this.one, this.two)) {
			assertThat(node.executeUntilAnswered(freshKey(), () -> "connected")).isEqualTo("connected");
		}
	}

	private HikariDataSource impatientPool() {
		return this.database.address().with(this.database.type().product().impatience()).pool(4, (config) -> {
			config.setConnectionTimeout(2_000);
			config.setValidationTimeout(1_000);
		});
	}

	@AfterEach
	void disconnect() {
		this.one.close();
		this.two.close();
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
			await().atMost(Duration.ofSeconds(60)).until(() -> this.one.count(IdempotencyEvent.STORE_UNAVAILABLE) > 0);
			this.server.resume();
		});
		expectReplays(keys);
	}

	@Test
	void callThatRunsWhileItsServerIsKilledKeepsItsClaim() {
		String key = freshKey();
		String result = this.one.executeUntilAnswered(key, () -> {
			this.server.kill();
			this.server.restart();
			await().ignoreException(IdempotencyStoreUnavailableException.class)
				.untilAsserted(() -> assertThatExceptionOfType(IdempotencyInProgressException.class)
					.isThrownBy(() -> this.two.execute(key, () -> this.runs.run(key))));
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
			return "rejected";
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
		String result = this.one.executeUntilAnswered(key, () -> {
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
