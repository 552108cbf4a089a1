package io.idempotency.it.webflux;

import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.MediaType;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.config.TransactionManagementConfigUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Handlers that are {@code @Transactional}, outside and inside the guard. */
@Requires(Backend.POSTGRESQL)
class TransactionsTests {

	private static final String KEY = "Idempotency-Key";

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@Nested
	class Outside extends Scenarios {

		@Override
		int order() {
			return 500;
		}

	}

	@Nested
	class Inside extends Scenarios {

		@Override
		int order() {
			return Ordered.LOWEST_PRECEDENCE;
		}

	}

	@TestInstance(TestInstance.Lifecycle.PER_CLASS)
	abstract static class Scenarios {

		private SqlDatabase database;

		private ConfigurableApplicationContext application;

		abstract int order();

		@BeforeAll
		void start() {
			this.database = PostgreSqlServer.shared(PostgreSqlBinary.values()[0]).newDatabase();
			this.database.jdbc()
				.execute("CREATE TABLE payment (id VARCHAR(64), "
						+ "slot VARCHAR(64) UNIQUE DEFERRABLE INITIALLY DEFERRED)");
			this.application = JoinTests.Scenarios.application(this.database, "continue", (context) -> {
				GenericApplicationContext beans = (GenericApplicationContext) context;
				beans.registerBean(Charges.class);
				beans.registerBean(BeanFactoryPostProcessor.class,
						() -> (factory) -> factory
							.getBeanDefinition(TransactionManagementConfigUtils.TRANSACTION_ADVISOR_BEAN_NAME)
							.getPropertyValues()
							.add("order", order()));
			});
		}

		@AfterAll
		void stop() {
			if (this.application != null) {
				this.application.close();
			}
		}

		private Answer post(String key, String slot) {
			return new Client(JoinTests.Scenarios.port(this.application)).post("/transactions/book", key,
					"application/json", "{}", (request) -> request.header("Slot", slot));
		}

		private int rows(String id) {
			return this.database.jdbc().queryForObject("SELECT COUNT(*) FROM payment WHERE id = ?", Integer.class, id);
		}

		@Test
		void replaysResponseOfCommittedWork() {
			String key = UUID.randomUUID().toString();
			assertThat(post(key, key).text()).isEqualTo("booked");
			Answer second = post(key, key);
			assertThat(second.text()).isEqualTo("booked");
			assertThat(second.replayed()).isTrue();
			assertThat(rows(key)).isEqualTo(1);
		}

		@Test
		void releasesKeyWhenCommitFails() {
			String taken = UUID.randomUUID().toString();
			assertThat(post(taken, taken).text()).isEqualTo("booked");
			String key = UUID.randomUUID().toString();
			assertThat(post(key, taken).status()).isEqualTo(500);
			assertThat(rows(key)).isZero();
			assertThat(post(key, key).text()).isEqualTo("booked");
			assertThat(rows(key)).isEqualTo(1);
		}

		@Test
		void releasesKeyWhenClientOfStreamDisconnects() throws Exception {
			String key = UUID.randomUUID().toString();
			try (RawClient client = new RawClient(JoinTests.Scenarios.port(this.application))) {
				client.send("/transactions/stream", key, "Slot: " + key + "\r\n", 2, "{}");
				client.head();
				JoinedController.entered(key).asMono().block(PATIENCE);
			}
			await().atMost(PATIENCE).untilAsserted(() -> {
				Answer second = new Client(JoinTests.Scenarios.port(this.application)).post("/transactions/stream", key,
						"application/json", "{}", (request) -> request.header("Slot", key));
				assertThat(second.text()).contains("booked").contains("done");
			});
			assertThat(rows(key)).isEqualTo(1);
		}

	}

	@RestController
	@RequestMapping("/transactions")
	static class Charges {

		private final Set<String> entered = ConcurrentHashMap.newKeySet();

		private final DatabaseClient client;

		Charges(DatabaseClient client) {
			this.client = client;
		}

		private Mono<Void> insert(String key, String slot) {
			return this.client.sql("INSERT INTO payment (id, slot) VALUES ('" + key + "', '" + slot + "')").then();
		}

		@Transactional
		@Idempotent
		@PostMapping(path = "/book", produces = MediaType.TEXT_PLAIN_VALUE)
		public Mono<String> book(@RequestHeader(KEY) String key, @RequestHeader("Slot") String slot) {
			return insert(key, slot).thenReturn("booked");
		}

		@Transactional
		@Idempotent
		@PostMapping(path = "/stream", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
		public Flux<String> stream(@RequestHeader(KEY) String key, @RequestHeader("Slot") String slot) {
			Mono<String> end = this.entered.add(key) ? JoinedController.gate(key).thenReturn("never")
					: Mono.just("done");
			return Flux.concat(insert(key, slot).thenReturn("booked"), end);
		}

	}

}
