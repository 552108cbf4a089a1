package io.idempotency.it.observed;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Health and readiness while the server of the store is dead or takes no claims, and
 * after it has come back.
 */
@Requires({ Backend.REDIS, Backend.POSTGRESQL })
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class KilledStoreTests {

	/** The group asks the store, as the page on operations describes it. */
	private static final List<String> PROPERTIES = List.of("server.port=0", "idempotency.store-timeout=500ms",
			"management.endpoint.health.probes.enabled=true",
			"management.endpoint.health.group.readiness.include=readinessState,idempotency",
			"management.endpoint.health.show-details=always", "management.endpoints.web.exposure.include=health");

	@Test
	void redis() {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);
				ConfigurableApplicationContext rejecting = redis(server, "reject");
				ConfigurableApplicationContext proceeding = redis(server, "proceed")) {
			expectHealth(rejecting, proceeding, server::kill, server::restart);
		}
	}

	@Test
	void redisThatIsFull() {
		expectDegraded("OOM command not allowed", List.of("CONFIG", "SET", "maxmemory", "1"),
				List.of("CONFIG", "SET", "maxmemory", "0"));
	}

	@Test
	void redisThatIsReadOnly() {
		expectDegraded("READONLY", List.of("REPLICAOF", "127.0.0.1", "1"), List.of("REPLICAOF", "NO", "ONE"));
	}

	/** The server still answers the question of the health. */
	private static void expectDegraded(String cause, List<String> spoil, List<String> mend) {
		try (RedisServer server = RedisServer.start(RedisBinary.REDIS_7_0);
				ConfigurableApplicationContext rejecting = redis(server, "reject")) {
			Client client = client(rejecting);
			expectUp(client);
			server.command(spoil.toArray(String[]::new));
			for (int i = 0; i < 3; i++) {
				assertThat(post(client)).isEqualTo(503);
			}
			expect(client, "idempotency", 200, "DEGRADED", cause);
			expect(client, "readiness", 200, "UP");
			server.command(mend.toArray(String[]::new));
			// Only a call that succeeds shows that the server takes claims again.
			await().atMost(Duration.ofSeconds(60)).until(() -> post(client) == 200);
			expectUp(client);
		}
	}

	@Test
	void postgreSql() {
		try (PostgreSqlServer server = PostgreSqlServer.start(PostgreSqlBinary.POSTGRESQL_16)) {
			try (HikariDataSource pool = server.newDatabase().pool(10, (config) -> config.setConnectionTimeout(2000));
					ConfigurableApplicationContext rejecting = postgreSql(pool, "reject");
					ConfigurableApplicationContext proceeding = postgreSql(pool, "proceed")) {
				expectHealth(rejecting, proceeding, server::kill, server::restart);
			}
		}
	}

	private static ConfigurableApplicationContext redis(RedisServer server, String mode) {
		return start(new SpringApplicationBuilder(ObservedApplication.class), mode, "idempotency.store=redis",
				"spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + server.port(),
				"spring.data.redis.repositories.enabled=false");
	}

	private static ConfigurableApplicationContext postgreSql(DataSource pool, String mode) {
		return start(
				new SpringApplicationBuilder(ObservedApplication.class)
					.initializers((context) -> ((GenericApplicationContext) context).registerBean("dataSource",
							DataSource.class, () -> pool, (definition) -> definition.setDestroyMethodName(""))),
				mode, "idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=always");
	}

	private static ConfigurableApplicationContext start(SpringApplicationBuilder application, String mode,
			String... properties) {
		return application.registerShutdownHook(false)
			.run(Stream.of(PROPERTIES, List.of("idempotency.on-store-failure=" + mode), List.of(properties))
				.flatMap(List::stream)
				.map((property) -> "--" + property)
				.toArray(String[]::new));
	}

	private static void expectHealth(ConfigurableApplicationContext rejecting,
			ConfigurableApplicationContext proceeding, Runnable kill, Runnable restart) {
		Client rejected = client(rejecting);
		Client unguarded = client(proceeding);
		expectUp(rejected);
		expectUp(unguarded);

		kill.run();
		assertThat(post(rejected)).isEqualTo(503);
		assertThat(post(unguarded)).isEqualTo(200);
		expect(rejected, "idempotency", 503, "DOWN");
		expect(rejected, "readiness", 503, "DOWN");
		expect(rejected, "liveness", 200, "UP");
		expect(unguarded, "idempotency", 200, "DEGRADED");
		expect(unguarded, "readiness", 200, "UP");
		expect(unguarded, "liveness", 200, "UP");

		restart.run();
		expectUp(rejected);
		expectUp(unguarded);
		// A busy machine may keep a call of the store waiting.
		await().until(() -> post(rejected) == 200);
		assertThat(post(unguarded)).isEqualTo(200);
	}

	private static void expectUp(Client client) {
		expect(client, "idempotency", 200, "UP");
		expect(client, "readiness", 200, "UP");
		expect(client, "liveness", 200, "UP");
	}

	private static void expect(Client client, String part, int status, String health, String... details) {
		await(part + " is " + health).atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
			Answer answer = client.send(client.to("/actuator/health/" + part).GET());
			assertThat(answer.text()).contains("\"status\":\"" + health + "\"");
			assertThat(List.of(details)).allSatisfy((detail) -> assertThat(answer.text()).contains(detail));
			assertThat(answer.status()).isEqualTo(status);
		});
	}

	private static int post(Client client) {
		return client.post("/plain", UUID.randomUUID().toString(), "text/plain", "body").status();
	}

	private static Client client(ConfigurableApplicationContext application) {
		return new Client(application.getEnvironment().getRequiredProperty("local.server.port", int.class));
	}

}
