package io.idempotency.it.webflux;

import java.util.UUID;

import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.AnonymousScenarios;
import io.idempotency.it.scenarios.BrokenRequestsScenarios;
import io.idempotency.it.scenarios.CallersScenarios;
import io.idempotency.it.scenarios.EarlyAnswersScenarios;
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
		protected ConfigurableApplicationContext start(Class<?> handlers, String... properties) {
			return new SpringApplicationBuilder(ScenariosApplication.class, handlers).properties(properties).run();
		}

	}

	@Nested
	class BrokenRequests extends OnNetty implements BrokenRequestsScenarios {

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
	class EarlyAnswers extends OnNetty implements EarlyAnswersScenarios {

		@Override
		public boolean answersEarly() {
			return false;
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

}
