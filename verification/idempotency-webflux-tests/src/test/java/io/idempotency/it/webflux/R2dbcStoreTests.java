package io.idempotency.it.webflux;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.reactor.ReactiveIdempotencyEngine;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.jdbc.JdbcIdempotencyStore;
import io.idempotency.store.r2dbc.R2dbcIdempotencyStore;
import io.idempotency.store.sql.RecordCleanup;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * WebFlux with a database that is reached over R2DBC, and other applications on the same
 * table: one over JDBC, and one that has both.
 */
class R2dbcStoreTests {

	private static final int STORM = Integer.getInteger("idempotency.tests.r2dbc-storm", 120);

	@Nightly
	@Nested
	class H2 extends Scenarios {

		@Override
		SqlDatabase database() {
			return new SqlDatabase("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", 0, "sa");
		}

	}

	@Nested
	@Requires(Backend.POSTGRESQL)
	class PostgreSql extends Scenarios {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.values()[0]).newDatabase();
		}

	}

	@Nightly
	@Nested
	@Requires(Backend.MARIADB)
	class MariaDb extends Scenarios {

		@Override
		SqlDatabase database() {
			return MariaDbServer.shared().newDatabase();
		}

	}

	@TestInstance(TestInstance.Lifecycle.PER_CLASS)
	abstract static class Scenarios implements HangUpScenarios {

		private SqlDatabase database;

		private ConfigurableApplicationContext overR2dbc;

		private ConfigurableApplicationContext overJdbc;

		private ConfigurableApplicationContext overBoth;

		abstract SqlDatabase database();

		@BeforeAll
		void start() {
			this.database = database();
			this.overR2dbc = start(false, true);
			this.overJdbc = start(true, false);
			this.overBoth = start(true, true);
		}

		private ConfigurableApplicationContext start(boolean jdbc, boolean r2dbc) {
			SpringApplicationBuilder application = new SpringApplicationBuilder(WebFluxApplication.class,
					Bookings.class, HeldForm.Engine.class)
				.registerShutdownHook(false);
			if (jdbc) {
				application.initializers((context) -> ((GenericApplicationContext) context).registerBean("dataSource",
						DataSource.class, this.database::unpooled));
			}
			String url = this.database.url().replaceFirst("^jdbc:h2:mem:(.*)", "jdbc:h2:mem:///$1").substring(5);
			String[] urls = r2dbc
					? new String[] { "--spring.r2dbc.url=r2dbc:" + url,
							"--spring.r2dbc.username=" + this.database.user() }
					: new String[] {
							"--spring.autoconfigure.exclude=org.springframework.boot.autoconfigure.r2dbc.R2dbcAutoConfiguration,"
									+ "org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration" };
			return application.run(List
				.of(List.of(urls),
						List.of("--server.port=0", "--idempotency.http.on-disconnect=" + (jdbc ? "cancel" : "continue"),
								"--spring.application.name=bookings", "--idempotency.store=jdbc",
								"--idempotency.jdbc.initialize-schema=always"))
				.stream()
				.flatMap(List::stream)
				.toArray(String[]::new));
		}

		@AfterAll
		void stop() {
			for (ConfigurableApplicationContext application : new ConfigurableApplicationContext[] { this.overR2dbc,
					this.overJdbc, this.overBoth }) {
				if (application != null) {
					application.close();
				}
			}
		}

		@Override
		public ConfigurableApplicationContext continuing() {
			return this.overR2dbc;
		}

		@Override
		public ConfigurableApplicationContext cancelling() {
			return this.overBoth;
		}

		private static Client client(ConfigurableApplicationContext application) {
			return new Client(application.getEnvironment().getRequiredProperty("local.server.port", int.class));
		}

		private static Answer send(ConfigurableApplicationContext application, String path, String key) {
			return client(application).post(path, key, "application/json", "{\"item\":\"" + key + "\"}",
					(request) -> request.header("X-Gate", key));
		}

		private static CompletableFuture<Answer> async(Supplier<Answer> sent) {
			return CompletableFuture.supplyAsync(sent, (task) -> new Thread(task).start());
		}

		@ParameterizedTest
		@ValueSource(
				strings = { "orders", "empty", "flux", "entity", "status/404", "by-argument", "future", "buffers" })
		void answerIsKeptInTheTable(String path) {
			String key = UUID.randomUUID().toString();
			int before = rows();
			Answer first = send(this.overR2dbc, "/" + path, key);
			Answer second = send(this.overR2dbc, "/" + path, key);
			assertThat(first.replayed()).isFalse();
			assertThat(second.replayed()).isTrue();
			assertThat(second.text()).isEqualTo(first.text());
			assertThat(rows()).isEqualTo(before + 1);
		}

		private int rows() {
			return this.database.jdbc().queryForObject("SELECT COUNT(*) FROM idempotency_record", Integer.class);
		}

		/** Which of the applications a repetition meets does not matter. */
		@Test
		void requestsOverR2dbcAndOverJdbcShareTheirKeys() {
			List<ConfigurableApplicationContext> all = List.of(this.overR2dbc, this.overJdbc, this.overBoth);
			for (ConfigurableApplicationContext first : all) {
				String key = UUID.randomUUID().toString();
				Answer answer = send(first, "/orders", key);
				assertThat(answer.replayed()).isFalse();
				for (ConfigurableApplicationContext other : all) {
					Answer replay = send(other, "/orders", key);
					assertThat(replay.replayed()).isTrue();
					assertThat(replay.text()).isEqualTo(answer.text());
					assertThat(replay.header("X-Run")).isEqualTo(answer.header("X-Run"));
				}
			}
		}

		@Test
		void requestThatRunsOverR2dbcIsInProgressOverJdbc() throws Exception {
			String key = UUID.randomUUID().toString();
			CompletableFuture<Answer> first = async(() -> send(this.overR2dbc, "/gated", key));
			await().until(() -> OrdersController.RUNS.containsKey("gate " + key));
			assertThat(send(this.overJdbc, "/gated", key).text()).contains("in-progress");
			assertThat(send(this.overBoth, "/gated", key).text()).contains("in-progress");
			OrdersController.GATES.get(key).tryEmitEmpty();
			assertThat(first.get().text()).isEqualTo("answer");
			assertThat(send(this.overJdbc, "/gated", key).replayed()).isTrue();
		}

		/** Ten duplicates of each key, which meet three applications of one table. */
		@Test
		@Timeout(value = 30, unit = TimeUnit.MINUTES)
		void stormRunsEachKeyOnce() {
			String key = UUID.randomUUID().toString();
			List<ConfigurableApplicationContext> all = List.of(this.overR2dbc, this.overJdbc, this.overBoth);
			ConcurrentDuplicates.Result<Integer> statuses = ConcurrentDuplicates.of(STORM)
				.run((i) -> send(all.get(i % 3), "/storm", key + "-" + i % (STORM / 10)).status());
			assertThat(statuses.failures()).isEmpty();
			assertThat(statuses.values()).hasSize(STORM).isSubsetOf(200, 409);
			for (int i = 0; i < STORM / 10; i++) {
				String each = key + "-" + i;
				assertThat(send(this.overR2dbc, "/storm", each).replayed()).isTrue();
				assertThat(OrdersController.runs("storm " + each)).as(each).isEqualTo(1);
			}
		}

		/** The caller that blocks asks over JDBC where there is JDBC. */
		@Test
		void methodsThatBlockAndMethodsThatDoNotShareTheirKeys() {
			for (ConfigurableApplicationContext application : List.of(this.overR2dbc, this.overJdbc, this.overBoth)) {
				Bookings bookings = application.getBean(Bookings.class);
				String first = UUID.randomUUID().toString();
				assertThat(this.overR2dbc.getBean(Bookings.class).book(first).block()).isEqualTo("1");
				assertThat(bookings.bookNow(first)).isEqualTo("1");
				String second = UUID.randomUUID().toString();
				assertThat(bookings.bookNow(second)).isEqualTo("1");
				assertThat(this.overR2dbc.getBean(Bookings.class).book(second).block()).isEqualTo("1");
				assertThat(
						application.getBean(IdempotencyAdmin.class).find("booking", IdempotencyCaller.none(), second))
					.isNotEmpty();
			}
		}

		/** Their answers come on other threads than the one that waits. */
		@Test
		void methodThatBlocksMayRunOnAThreadOfReactorsTimers() {
			for (ConfigurableApplicationContext application : List.of(this.overR2dbc, this.overJdbc, this.overBoth)) {
				Bookings bookings = application.getBean(Bookings.class);
				assertThat(Mono.fromCallable(() -> Stream.generate(() -> bookOnThisThread(bookings)).limit(20).toList())
					.subscribeOn(Schedulers.parallel())
					.block(Duration.ofMinutes(1))).hasSize(20).containsOnly("1");
			}
		}

		private static String bookOnThisThread(Bookings bookings) {
			return bookings.bookNow(UUID.randomUUID().toString());
		}

		@Test
		void eachApplicationAsksInItsWay() {
			assertThat(asked(this.overR2dbc)).isNotEqualTo("AdaptedStore");
			assertThat(asked(this.overJdbc)).isEqualTo("AdaptedStore");
			assertThat(asked(this.overBoth)).isNotEqualTo("AdaptedStore");
			assertThat(this.overBoth.getBean(R2dbcIdempotencyStore.class).blocking())
				.isSameAs(this.overBoth.getBean(JdbcIdempotencyStore.class));
			assertThat(this.overBoth.getBean(IdempotencyStore.class)).isInstanceOf(JdbcIdempotencyStore.class);
			assertThat(this.overR2dbc.getBeansOfType(RecordCleanup.class)).hasSize(1);
			assertThat(this.overBoth.getBeansOfType(RecordCleanup.class)).hasSize(1);
		}

		/** Adapted is what blocks, and asked on threads. */
		private static String asked(ConfigurableApplicationContext application) {
			return application.getBean(ReactiveIdempotencyEngine.class)
				.store(application.getBean(IdempotencyStore.class))
				.getClass()
				.getSimpleName();
		}

		/** By the clock of the database. */
		private long leaseOfTheNewestClaim() {
			return this.database.jdbc()
				.queryForObject("SELECT lease_until FROM idempotency_record ORDER BY fence DESC LIMIT 1", Long.class);
		}

		@Test
		void claimOfALongCallIsRenewed() throws Exception {
			String key = UUID.randomUUID().toString();
			CompletableFuture<Answer> first = async(() -> send(this.overR2dbc, "/renewed", key));
			await().until(() -> OrdersController.RUNS.containsKey("gate " + key));
			long claimed = leaseOfTheNewestClaim();
			await().until(() -> leaseOfTheNewestClaim() > claimed);
			assertThat(send(this.overR2dbc, "/renewed", key).text()).contains("in-progress");
			OrdersController.GATES.get(key).tryEmitEmpty();
			assertThat(first.get().text()).isEqualTo("answer");
		}

	}

	/** The same operation for callers that block and for others. */
	static class Bookings {

		static final ConcurrentHashMap<String, AtomicInteger> RUNS = new ConcurrentHashMap<>();

		@Idempotent(operation = "booking", key = "#id")
		public Mono<String> book(String id) {
			return Mono.fromSupplier(() -> run(id));
		}

		@Idempotent(operation = "booking", key = "#id")
		public String bookNow(String id) {
			return run(id);
		}

		private static String run(String id) {
			return "" + RUNS.computeIfAbsent(id, (key) -> new AtomicInteger()).incrementAndGet();
		}

	}

}
