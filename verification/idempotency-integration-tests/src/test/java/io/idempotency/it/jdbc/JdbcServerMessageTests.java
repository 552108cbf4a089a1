package io.idempotency.it.jdbc;

import java.io.IOException;
import java.util.Map;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.PostgreSqlLine;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * What a guarded call costs in messages to PostgreSQL. Each verb is one statement that
 * the connection has prepared before, and nothing is sent to set up the connection.
 */
@Nightly
@EachDatabase(value = {}, and = { Database.POSTGRESQL_18, Database.POSTGRESQL_16 })
class JdbcServerMessageTests {

	/** The driver prepares a statement when it is used so often. */
	private static final int WARM = 10;

	private final TestDatabase database;

	private final PostgreSqlLine line;

	private final JdbcNode node;

	JdbcServerMessageTests(TestDatabase database) throws IOException {
		this.line = new PostgreSqlLine(database.plain().port());
		this.database = database;
		this.node = new JdbcNode(pool(1));
		for (int i = 0; i < WARM; i++) {
			fresh();
			replay(fresh());
			failed();
		}
	}

	private HikariDataSource pool(int size) {
		return this.database.plain().through(this.line.port()).with("sslmode=disable").pool(size);
	}

	@AfterEach
	void stop() {
		this.node.close();
		this.line.close();
	}

	@Test
	void freshCallIsTwoStatements() {
		expectStatements(2, this::fresh);
	}

	@Test
	void failedCallIsTwoStatements() {
		expectStatements(2, this::failed);
	}

	@Test
	void replayIsOneStatement() {
		String key = fresh();
		expectStatements(1, () -> replay(key));
	}

	/**
	 * Four trips: the claim, before which the driver sends the begin without waiting for
	 * its answer, the work, the record with the answer, and the commit. A duplicate needs
	 * one, and no transaction.
	 */
	@Test
	void requestInOneTransactionIsFourTrips() {
		try (HikariDataSource pool = pool(2);
				ConfigurableApplicationContext application = AdvisedApplication.start(this.database.jdbc(), pool)) {
			Client client = new Client(
					Integer.parseInt(application.getEnvironment().getRequiredProperty("local.server.port")));
			for (int i = 0; i < WARM; i++) {
				String key = UUID.randomUUID().toString();
				charge(client, key);
				charge(client, key);
			}
			String key = UUID.randomUUID().toString();
			assertThat(this.line.messagesOf(() -> charge(client, key)))
				.containsExactlyInAnyOrderEntriesOf(Map.of("Q", 1L, "B", 4L, "E", 4L, "S", 4L));
			expectStatements(1, () -> charge(client, key));
		}
	}

	private static void charge(Client client, String key) {
		assertThat(client.post("/charge?ref=" + key, key).text()).startsWith("charge in run ");
	}

	private void expectStatements(long statements, Runnable call) {
		Map<String, Long> messages = this.line.messagesOf(call);
		assertThat(messages).containsOnlyKeys("B", "E", "S")
			.containsEntry("B", statements)
			.containsEntry("E", statements)
			.containsEntry("S", statements);
	}

	private String fresh() {
		String key = UUID.randomUUID().toString();
		assertThat(this.node.execute(key, () -> "done")).isEqualTo("done");
		return key;
	}

	private void replay(String key) {
		assertThat(this.node.execute(key, () -> "again")).isEqualTo("done");
	}

	private void failed() {
		assertThatIllegalStateException().isThrownBy(() -> this.node.execute(UUID.randomUUID().toString(), () -> {
			throw new IllegalStateException();
		}));
	}

}
