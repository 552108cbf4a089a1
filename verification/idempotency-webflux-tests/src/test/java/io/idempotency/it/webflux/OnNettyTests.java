package io.idempotency.it.webflux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Mono;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.Idempotent;
import java.util.Map;
import java.util.UUID;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.AnonymousScenarios;
import io.idempotency.it.scenarios.BrokenRequestsScenarios;
import io.idempotency.it.scenarios.CallersScenarios;
import io.idempotency.it.scenarios.EncryptedAnswersScenarios;
import io.idempotency.it.scenarios.FingerprintsScenarios;
import io.idempotency.it.scenarios.KeptAnswersScenarios;
import io.idempotency.it.scenarios.KeysScenarios;
import io.idempotency.it.scenarios.ReleasedScenarios;
import io.idempotency.it.scenarios.RetentionOnErrorScenarios;
import io.idempotency.it.scenarios.Runs;
import io.idempotency.it.scenarios.Scenario;
import io.idempotency.it.scenarios.StoredRequestScenarios;
import io.idempotency.it.scenarios.StormScenarios;
import io.idempotency.it.scenarios.TombstonesScenarios;
import io.idempotency.it.scenarios.UnguardedScenarios;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.test.MutableClock;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;

/** The scenarios of Tomcat and Jetty, on Netty. */
class OnNettyTests {

	@SpringBootTest(classes = ScenariosApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
			properties = { "idempotency.http.max-request-size=64KB", "idempotency.http.max-response-size=64KB" })
	abstract static class OnNetty implements Scenario {

		private final String key = UUID.randomUUID().toString();

		@Autowired
		private Runs runs;

		@Value("${local.server.port}")
		private int port;

		private Client client;

		@Override
		public Client client() {
			if (this.client == null) {
				this.client = new Client(this.port);
			}
			return this.client;
		}

		@Override
		public Runs runs() {
			return this.runs;
		}

		@Override
		public String key() {
			return this.key;
		}

	}

	abstract static class KeepsAnswers extends OnNetty implements KeptAnswersScenarios {

		@ParameterizedTest
		@CsvSource({ "/answers/pojo, 200", "/answers/record, 200", "/answers/null-body, 200", "/answers/bytes, 200",
				"/answers/resource, 200", "/answers/text, 200", "/answers/number, 200", "/answers/false, 200",
				"/answers/created, 201", "/answers/content-length, 200", "/answers/no-content, 204",
				"/answers/stream, 200", "/answers/handler-cache-control, 200", "/answers/cookie, 200",
				"/answers/exception-handler, 422", "/answers/response-status-exception, 409", "/answers/list, 200",
				"/async/future, 200", "/async/future-failed, 422", "/async/mono, 200", "/failures/status/404, 404",
				"/failures/status/400, 400", "/failures/status/409, 409", "/failures/remembered-status, 503",
				"/failures/remembered-response-status, 502" })
		void replayIsTheFirstAnswer(String path, int status) {
			assertKept(path, status);
		}

	}

	/** A PostgreSQL of an application, which knows it over R2DBC alone. */
	static class Database implements ApplicationContextInitializer<ConfigurableApplicationContext> {

		@Override
		public void initialize(ConfigurableApplicationContext context) {
			SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.POSTGRESQL_16).newDatabase();
			context.getBeanFactory().registerSingleton("database", database);
			TestPropertyValues
				.of("idempotency.store=jdbc", "idempotency.jdbc.initialize-schema=always",
						"spring.r2dbc.url=" + database.url().replace("jdbc:", "r2dbc:"),
						"spring.r2dbc.username=" + database.user())
				.applyTo(context);
		}

	}

	@Nested
	class Anonymous extends AnonymousScenarios {

		@Override
		protected Class<?> handlers() {
			return Payments.class;
		}

		@Override
		protected ConfigurableApplicationContext start(Class<?> handlers, String... properties) {
			return new SpringApplicationBuilder(ScenariosApplication.class, handlers).properties(properties).run();
		}

	}

	@Nested
	class BrokenRequests extends OnNetty implements BrokenRequestsScenarios {

		/** Netty answers it with 400, and the handler may be called meanwhile. */
		@ParameterizedTest
		@ValueSource(strings = { "/requests/text", "/requests/bytes", "/keys/uncompared" })
		void storesNothingOfBodyWhoseFramingIsBroken(String path) throws IOException {
			String head = "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: " + key()
					+ "\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
			String answer = client().broken(head, "3\r\nabc\r\nzz\r\n".getBytes(StandardCharsets.US_ASCII));
			assertThat(answer).startsWith("HTTP/1.1 400 ");
			// The server responds before the handler ends.
			Answer whole = await().until(() -> client().post(path, key(), "text/plain", "abc"),
					(second) -> !second.text().contains("in-progress"));
			assertThat(whole.status()).as("%s", whole).isEqualTo(200);
			assertThat(whole.replayed()).isFalse();
		}

		/** Half a request is no request to Netty, which does not answer it. */
		@Override
		public boolean closesConnections(String path) {
			return true;
		}

	}

	@Nested
	class Callers extends OnNetty implements CallersScenarios {

		@Override
		public String resolver() {
			return "ReactiveIdempotencyScopeResolver";
		}

	}

	@Nested
	class Fingerprints extends OnNetty implements FingerprintsScenarios {

	}

	@Nested
	@Requires(Backend.POSTGRESQL)
	@ContextConfiguration(initializers = Database.class)
	@TestPropertySource(properties = EncryptedAnswersScenarios.PROPERTIES)
	class EncryptedAnswersOverR2dbc extends KeepsAnswers implements EncryptedAnswersScenarios.InPostgreSql {

		@Autowired
		private SqlDatabase database;

		@Override
		public JdbcTemplate database() {
			return this.database.jdbc();
		}

	}

	@Nested
	@Requires(Backend.REDIS)
	@ContextConfiguration(initializers = RedisServer.OfAnApplication.class)
	@TestPropertySource(properties = { "idempotency.store=redis", EncryptedAnswersScenarios.PROPERTIES })
	class EncryptedAnswersInRedis extends KeepsAnswers implements EncryptedAnswersScenarios.InRedis {

		@Autowired
		private RedisServer server;

		@Override
		public RedisServer server() {
			return this.server;
		}

	}

	@Nested
	class KeptAnswers extends KeepsAnswers {

	}

	@Nested
	class Keys extends OnNetty implements KeysScenarios {

		/** Spring trims the fields of a form, so the handler sees two values. */
		@Test
		void rejectsFormWithTwoKeysOfWhichOneFollowsABlank() {
			Scenario.assertCode(client().post("/keys/optional-form", "x", "application/x-www-form-urlencoded",
					" token=a&token=" + key()), 400, "key-invalid");
		}

		@Test
		void beanMethodSeesHeaderAndCallerOfTheRequest() {
			String path = "/keys/service-by-request?room=12";
			Answer alice = client().post(path, key(), "text/plain", "", Client.as("alice"));
			assertThat(alice.status()).as("%s", alice).isEqualTo(200);
			assertThat(client().post(path, key(), "text/plain", "", Client.as("bob")).body())
				.isNotEqualTo(alice.body());
			assertThat(client().post(path, key(), "text/plain", "", Client.as("alice")).body()).isEqualTo(alice.body());
			assertThat(client().post(path, key()).text()).isNotEqualTo(alice.text());
			Scenario.assertCode(client().send(client().to(path).POST(HttpRequest.BodyPublishers.noBody())), 400,
					"key-missing");
		}

	}

	@Nested
	class Released extends OnNetty implements ReleasedScenarios {

	}

	@Nested
	@Import(RetentionOnErrorScenarios.TimedStore.class)
	@TestPropertySource(properties = "idempotency.http.retention-on-error=1h")
	class RetentionOnError extends OnNetty implements RetentionOnErrorScenarios {

		@Autowired
		private MutableClock clock;

		@Override
		public MutableClock clock() {
			return this.clock;
		}

	}

	@Nested
	class Storm extends OnNetty implements StormScenarios {

		@Autowired
		private IdempotencyEngine engine;

		@Override
		public int waiters() {
			return this.engine.load().waiters();
		}

	}

	@Nested
	class StoredRequests extends StoredRequestScenarios {

		@Override
		protected Class<?> handlers() {
			return Orders.class;
		}

		@Override
		protected ConfigurableApplicationContext start(Class<?> handlers, String... properties) {
			return new SpringApplicationBuilder(ScenariosApplication.class, handlers).properties(properties).run();
		}

	}

	@Nested
	class Tombstones extends OnNetty implements TombstonesScenarios {

	}

	@Nested
	class Unguarded extends OnNetty implements UnguardedScenarios {

		@Autowired
		private RequestMappingHandlerMapping requestMappingHandlerMapping;

		@Autowired
		private ScenariosOfUnguarded controller;

		private RequestMappingInfo later;

		@Override
		public void map(String path) throws Exception {
			this.later = RequestMappingInfo.paths(path).methods(RequestMethod.POST).build();
			this.requestMappingHandlerMapping.registerMapping(this.later, this.controller,
					ScenariosOfUnguarded.class.getMethod("later"));
		}

		@Override
		public void unmap() {
			this.requestMappingHandlerMapping.unregisterMapping(this.later);
		}

	}

	/** The handlers of {@link StoredRequestScenarios}. */
	@RestController
	static class Orders {

		@Bean(destroyMethod = "")
		static IdempotencyStore store() {
			return StoredRequests.recordingStore();
		}

		@PostMapping("/stored/handler")
		@Idempotent(operation = "order.place")
		public Mono<String> handler() {
			return Mono.just("placed");
		}

		@PostMapping("/stored/scope")
		@Idempotent(operation = "order.place", scope = "'all'")
		public Mono<String> scope() {
			return Mono.just("placed");
		}

		@PostMapping("/stored/list")
		@Idempotent(operation = "order.place", key = "{#order['order'], 7L}")
		public Mono<String> list(@RequestBody Map<String, String> order) {
			return Mono.just("placed");
		}

		@PostMapping("/stored/expression")
		@Idempotent(operation = "order.place", fingerprint = "#order")
		public Mono<String> expression(@RequestBody Map<String, Object> order) {
			return Mono.just("placed");
		}

	}

	/** The handlers of {@link AnonymousScenarios}. */
	@RestController
	static class Payments {

		@Bean(destroyMethod = "")
		static IdempotencyStore store() {
			return Anonymous.sharedStore();
		}

		private static Mono<String> runs() {
			return Mono.fromSupplier(() -> "run " + Anonymous.run());
		}

		@PostMapping("/pay")
		@Idempotent
		public Mono<String> pay(@RequestBody String body) {
			return runs();
		}

		@PostMapping("/pay/form")
		@Idempotent
		public Mono<String> form(String a) {
			return runs();
		}

		@PostMapping("/pay/resource")
		@Idempotent(key = "header('Idempotency-Key')")
		public Mono<String> resource() {
			return runs();
		}

		@PostMapping("/scoped")
		@Idempotent(scope = "'everybody'")
		public Mono<String> scoped() {
			return Mono.just("scoped");
		}

		@PostMapping("/condition")
		@Idempotent(condition = "false")
		public Mono<String> condition() {
			return Mono.just("unguarded");
		}

		@PostMapping("/optional")
		@Idempotent(required = false)
		public Mono<String> optional() {
			return Mono.just("optional");
		}

	}

}
