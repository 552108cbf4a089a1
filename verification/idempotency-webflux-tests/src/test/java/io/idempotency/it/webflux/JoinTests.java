package io.idempotency.it.webflux;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.MariaDbServer;
import io.idempotency.it.servers.Nightly;
import io.idempotency.it.servers.PostgreSqlBinary;
import io.idempotency.it.servers.PostgreSqlServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.servers.SqlDatabase;
import io.r2dbc.pool.ConnectionPool;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.reactive.TransactionalOperator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Claim, work and answer in one transaction of R2DBC. */
class JoinTests {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@Nightly
	@Nested
	class H2 extends Scenarios {

		@Override
		SqlDatabase database() {
			return new SqlDatabase("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", 0, "sa");
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

	@Nested
	@Requires(Backend.POSTGRESQL)
	class PostgreSql extends Scenarios {

		@Override
		SqlDatabase database() {
			return PostgreSqlServer.shared(PostgreSqlBinary.values()[0]).newDatabase();
		}

		@Override
		String slot() {
			return "slot VARCHAR(64) UNIQUE DEFERRABLE INITIALLY DEFERRED";
		}

		@Test
		void commitThatFailsIsTheFailureOfTheHandler() {
			String taken = UUID.randomUUID().toString();
			assertThat(send("/deferred", taken, slot(taken)).text()).isEqualTo("booked");
			Answer answer = send("/deferred", this.key, slot(taken));
			assertThat(answer.status()).isEqualTo(409);
			assertThat(answer.text()).isEqualTo("not committed");
			assertThat(answer.header("X-Payment")).isNull();
			assertThat(answer.header("Set-Cookie")).isNull();
			assertThat(answer.header("X-Seen-Headers")).isEqualTo("null");
			assertThat(runs(this.key)).isZero();
			Answer again = send("/deferred", this.key, slot(this.key));
			assertThat(again.text()).isEqualTo("not committed");
			assertThat(again.replayed()).isTrue();
			assertThat(runs(this.key)).isZero();
		}

		@Test
		void commitThatFailsSendsNothingOfALargeAnswer() {
			String taken = UUID.randomUUID().toString();
			assertThat(send("/deferred", taken, slot(taken)).text()).isEqualTo("booked");
			Answer answer = send("/large-deferred", this.key, slot(taken));
			assertThat(answer.status()).isEqualTo(409);
			assertThat(answer.text()).isEqualTo("not committed");
			assertThat(runs(this.key)).isZero();
		}

		@Test
		void commitMaySayThatTheWorkWasDoneBefore() {
			String taken = UUID.randomUUID().toString();
			assertThat(send("/deferred-twice", taken, slot(taken)).text()).isEqualTo("booked");
			Answer answer = send("/deferred-twice", this.key, slot(taken));
			assertThat(answer.text()).isEqualTo("booked by " + taken);
			Answer again = send("/deferred-twice", this.key, slot(taken));
			assertThat(again.text()).isEqualTo(answer.text());
			assertThat(again.replayed()).isTrue();
			assertThat(runs(this.key)).isZero();
		}

		@Test
		void commitOfAMethodFails() {
			assertThat(payments().deferred(this.key, this.key).block(PATIENCE)).isEqualTo("booked");
			String other = UUID.randomUUID().toString();
			assertThatExceptionOfType(DataIntegrityViolationException.class)
				.isThrownBy(() -> payments().deferred(other, this.key).block(PATIENCE));
			assertThat(runs(other)).isZero();
			assertThat(payments().deferred(other, other).block(PATIENCE)).isEqualTo("booked");
		}

		@Test
		void commitOfAMethodThatFailsIsRemembered() {
			assertThat(payments().deferred(this.key, this.key).block(PATIENCE)).isEqualTo("booked");
			String other = UUID.randomUUID().toString();
			for (String slot : List.of(this.key, other)) {
				assertThatExceptionOfType(RuntimeException.class)
					.isThrownBy(() -> payments().remembered(other, slot).block(PATIENCE));
			}
			assertThat(runs(other)).isZero();
		}

	}

	/** The default manager is that of JDBC; a handler's work is in one of the other. */
	@Test
	void applicationMayReachItsDatabaseOverJdbcToo() {
		SqlDatabase database = new SqlDatabase("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", 0, "sa");
		database.jdbc().execute("CREATE TABLE payment (id VARCHAR(64) PRIMARY KEY, slot VARCHAR(64))");
		try (ConfigurableApplicationContext both = Scenarios.application(database, "continue", (context) -> {
			GenericApplicationContext beans = (GenericApplicationContext) context;
			beans.registerBean("dataSource", DataSource.class, database::unpooled);
			beans.registerBean("transactionManager", DataSourceTransactionManager.class,
					() -> new DataSourceTransactionManager(beans.getBean(DataSource.class)));
		})) {
			assertThat(both.getBeansOfType(TransactionManager.class)).hasSize(2);
			String key = UUID.randomUUID().toString();
			Client client = new Client(Scenarios.port(both));
			for (int i = 0; i < 2; i++) {
				Answer answer = client.post("/join/pay", key, "application/json", "{}");
				assertThat(answer.text()).isEqualTo("paid " + key);
				assertThat(answer.replayed()).isEqualTo(i == 1);
			}
			assertThat(client.post("/join/fails", key + "2", "application/json", "{}").status()).isEqualTo(500);
			assertThat(database.jdbc().queryForList("SELECT id FROM payment", String.class)).containsExactly(key);
		}
	}

	/** A pool without a time-out of its own lets whoever asks it wait for ever. */
	@Test
	void callThatGetsNoConnectionInTimeIsRejected() {
		SqlDatabase database = new SqlDatabase("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", 0, "sa");
		database.jdbc().execute("CREATE TABLE payment (id VARCHAR(64) PRIMARY KEY, slot VARCHAR(64))");
		try (ConfigurableApplicationContext impatient = Scenarios.application(database, "continue", "4s", (context) -> {
		})) {
			Client client = new Client(Scenarios.port(impatient));
			List<String> keys = Stream.generate(() -> UUID.randomUUID().toString()).limit(Scenarios.POOL).toList();
			List<CompletableFuture<Answer>> all = keys.stream()
				.map((each) -> CompletableFuture.supplyAsync(
						() -> client.post("/join/gated", each, "application/json", "{}"),
						(task) -> new Thread(task).start()))
				.toList();
			keys.forEach((each) -> JoinedController.entered(each).asMono().block(PATIENCE));
			String key = UUID.randomUUID().toString();
			Answer rejected = client.post("/join/pay", key, "application/json", "{}");
			assertThat(rejected.status()).isEqualTo(503);
			assertThat(rejected.text()).contains("store-unavailable");
			keys.forEach((each) -> JoinedController.gateOf(each).tryEmitEmpty());
			assertThat(all).allSatisfy((answer) -> assertThat(answer.join().status()).isEqualTo(200));
			assertThat(client.post("/join/pay", key, "application/json", "{}").text()).isEqualTo("paid " + key);
			assertThat(database.jdbc().queryForList("SELECT id FROM payment WHERE id = ?", String.class, key))
				.hasSize(1);
		}
	}

	/** The lock on the row of the record does not expire. */
	@Test
	void rollsBackHungWorkOfAClientThatLeft() throws Exception {
		SqlDatabase database = PostgreSqlServer.shared(PostgreSqlBinary.values()[0]).newDatabase();
		database.jdbc().execute("CREATE TABLE payment (id VARCHAR(64) PRIMARY KEY, slot VARCHAR(64))");
		try (ConfigurableApplicationContext bounded = Scenarios.application(database, "continue",
				(context) -> TestPropertyValues.of("idempotency.max-detached-duration=1s").applyTo(context))) {
			String key = UUID.randomUUID().toString();
			try (RawClient client = new RawClient(Scenarios.port(bounded))) {
				client.send("/join/gated", key, "", 2, "{}");
				JoinedController.entered(key).asMono().block(PATIENCE);
			}
			await().atMost(PATIENCE).until(() -> Scenarios.acquired(bounded) == 0);
			String method = UUID.randomUUID().toString();
			Disposable caller = bounded.getBean(JoinedController.Payments.class).gated(method).subscribe();
			JoinedController.entered(method).asMono().block(PATIENCE);
			caller.dispose();
			await().atMost(PATIENCE.dividedBy(2)).until(() -> Scenarios.acquired(bounded) == 0);
			assertThat(database.jdbc().queryForList("SELECT id FROM payment", String.class)).isEmpty();
		}
	}

	@TestInstance(TestInstance.Lifecycle.PER_CLASS)
	abstract static class Scenarios {

		private static final int POOL = 6;

		private SqlDatabase database;

		private ConfigurableApplicationContext application;

		private ConfigurableApplicationContext cancelling;

		String key = UUID.randomUUID().toString();

		abstract SqlDatabase database();

		String slot() {
			return "slot VARCHAR(64)";
		}

		@BeforeAll
		void start() {
			this.database = database();
			jdbc().execute("CREATE TABLE payment (id VARCHAR(64) PRIMARY KEY, " + slot() + ")");
			this.application = start("continue");
			this.cancelling = start("cancel");
		}

		private ConfigurableApplicationContext start(String onDisconnect) {
			return application(this.database, onDisconnect, (context) -> {
			});
		}

		static ConfigurableApplicationContext application(SqlDatabase database, String onDisconnect,
				ApplicationContextInitializer<ConfigurableApplicationContext> more) {
			return application(database, onDisconnect, "20s", more);
		}

		static ConfigurableApplicationContext application(SqlDatabase database, String onDisconnect,
				String storeTimeout, ApplicationContextInitializer<ConfigurableApplicationContext> more) {
			String url = database.url().replaceFirst("^jdbc:h2:mem:(.*)", "jdbc:h2:mem:///$1").substring(5);
			return new SpringApplicationBuilder(WebFluxApplication.class, JoinedController.class,
					JoinedController.Ledger.class, JoinedController.Payments.class)
				.registerShutdownHook(false)
				.initializers(more)
				.run("--server.port=0", "--spring.application.name=payments", "--idempotency.store=jdbc",
						"--idempotency.wait-timeout=1s", "--idempotency.store-timeout=" + storeTimeout,
						"--idempotency.jdbc.initialize-schema=always",
						"--idempotency.http.on-disconnect=" + onDisconnect, "--spring.r2dbc.url=r2dbc:" + url,
						"--spring.r2dbc.username=" + database.user(), "--spring.r2dbc.pool.enabled=true",
						"--spring.r2dbc.pool.initial-size=1", "--spring.r2dbc.pool.max-size=" + POOL);
		}

		@AfterAll
		void stop() {
			Stream.of(this.application, this.cancelling)
				.filter((application) -> application != null)
				.forEach(ConfigurableApplicationContext::close);
		}

		/** Whatever has happened, nothing is left behind. */
		@AfterEach
		void connectionsAreGivenBack() {
			this.key = UUID.randomUUID().toString();
			await().atMost(PATIENCE).untilAsserted(() -> {
				assertThat(acquired(this.application)).isZero();
				assertThat(acquired(this.cancelling)).isZero();
			});
		}

		private static int acquired(ConfigurableApplicationContext application) {
			return application.getBean(ConnectionPool.class).getMetrics().orElseThrow().acquiredSize();
		}

		org.springframework.jdbc.core.JdbcTemplate jdbc() {
			return this.database.jdbc();
		}

		JoinedController.Payments payments() {
			return this.application.getBean(JoinedController.Payments.class);
		}

		int runs(String id) {
			return jdbc().queryForObject("SELECT COUNT(*) FROM payment WHERE id = ?", Integer.class, id);
		}

		static int port(ConfigurableApplicationContext application) {
			return application.getEnvironment().getRequiredProperty("local.server.port", int.class);
		}

		Answer send(String path) {
			return send(path, this.key, (request) -> {
			});
		}

		Answer send(String path, String key, Consumer<java.net.http.HttpRequest.Builder> more) {
			return new Client(port(this.application)).post("/join" + path, key, "application/json", "{}", more);
		}

		static Consumer<java.net.http.HttpRequest.Builder> slot(String slot) {
			return (request) -> request.header("X-Slot", slot);
		}

		private CompletableFuture<Answer> async(String path) {
			return async(path, this.key, (request) -> {
			});
		}

		private CompletableFuture<Answer> async(String path, String key,
				Consumer<java.net.http.HttpRequest.Builder> more) {
			return CompletableFuture.supplyAsync(() -> send(path, key, more), (task) -> new Thread(task).start());
		}

		@ParameterizedTest
		@ValueSource(strings = { "/pay", "/empty", "/created", "/written", "/below", "/transactional" })
		void answerIsReplayed(String path) {
			Answer first = send(path);
			Answer second = send(path);
			assertThat(first.status()).as(first.text()).isBetween(200, 201);
			assertThat(first.replayed()).isFalse();
			assertThat(second.replayed()).isTrue();
			assertThat(second.status()).isEqualTo(first.status());
			assertThat(second.text()).isEqualTo(first.text());
			assertThat(second.header("X-Payment")).isEqualTo(first.header("X-Payment"));
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@ParameterizedTest
		@ValueSource(strings = { "/fails", "/times-out", "/created-fails" })
		void failureRollsBothBack(String path) {
			for (int i = 0; i < 2; i++) {
				Answer answer = send(path);
				assertThat(answer.status()).isEqualTo(500);
				assertThat(answer.replayed()).isFalse();
				assertThat(runs(this.key)).isZero();
			}
			assertThat(send("/pay").status()).isEqualTo(201);
		}

		/** Reactive managers commit what a participant has marked, and so it is kept. */
		@Test
		void failureOfAPartThatTheHandlerTakesIsNone() {
			assertThat(send("/swallowed").text()).isEqualTo("paid");
			assertThat(send("/swallowed").replayed()).isTrue();
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@ParameterizedTest
		@ValueSource(strings = { "/rejects", "/remembered", "/handled" })
		void answerOfAFailureIsKeptThoughItsWorkIsGone(String path) {
			Answer first = send(path);
			assertThat(first.status()).isGreaterThanOrEqualTo(400);
			assertThat(runs(this.key)).isZero();
			Answer second = send(path);
			assertThat(second.replayed()).isTrue();
			assertThat(second.status()).isEqualTo(first.status());
			assertThat(second.text()).isEqualTo(first.text());
		}

		@Test
		void handlerOfExceptionsIsOutsideOfTheTransaction() {
			assertThat(send("/handled").text()).isEqualTo("handled");
			assertThat(runs(this.key)).isZero();
			assertThat(runs(this.key + "-handled")).isEqualTo(1);
		}

		/** It is committed, so it must not run again. */
		@Test
		void answerOfCommittedWorkIsKeptWhateverItsStatus() {
			assertThat(send("/unavailable").status()).isEqualTo(503);
			Answer again = send("/unavailable");
			assertThat(again.status()).isEqualTo(503);
			assertThat(again.replayed()).isTrue();
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@Test
		void duplicateInTheBusinessDataIsRecovered() {
			assertThat(send("/duplicate").text()).isIn("paid", "paid before");
			String other = UUID.randomUUID().toString();
			Answer second = send("/duplicate", other, (request) -> {
			});
			assertThat(second.text()).isEqualTo("paid before");
			Answer third = send("/duplicate", other, (request) -> {
			});
			assertThat(third.text()).isEqualTo("paid before");
			assertThat(third.replayed()).isTrue();
			assertThat(runs("same")).isEqualTo(1);
		}

		@Test
		void largeAnswerIsSentWholeAndNotKept() {
			Answer answer = send("/large");
			assertThat(answer.status()).isEqualTo(200);
			assertThat(answer.body()).hasSize(2_000_000);
			assertThat(answer.header("X-Payment")).isEqualTo(this.key);
			await().atMost(PATIENCE).until(() -> send("/large").text().contains("result-unavailable"));
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@Test
		void duplicateWaitsForTheTransactionAndIsReplayed() throws Exception {
			CompletableFuture<Answer> first = async("/gated-and-waited-for");
			JoinedController.entered(this.key).asMono().block(PATIENCE);
			List<CompletableFuture<Answer>> duplicates = new ArrayList<>();
			for (int i = 0; i < 3; i++) {
				duplicates.add(async("/gated-and-waited-for"));
			}
			JoinedController.gateOf(this.key).tryEmitEmpty();
			assertThat(first.get().text()).isEqualTo("paid " + this.key);
			for (CompletableFuture<Answer> duplicate : duplicates) {
				assertThat(duplicate.get().text()).isEqualTo("paid " + this.key);
				assertThat(duplicate.get().replayed()).isTrue();
			}
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@Test
		void duplicateWaitsNoLongerThanItMay() throws Exception {
			CompletableFuture<Answer> first = async("/gated");
			JoinedController.entered(this.key).asMono().block(PATIENCE);
			Answer duplicate = send("/gated");
			assertThat(duplicate.status()).isEqualTo(409);
			assertThat(duplicate.text()).contains("in-progress");
			JoinedController.gateOf(this.key).tryEmitEmpty();
			assertThat(first.get().text()).isEqualTo("paid " + this.key);
			assertThat(send("/gated").replayed()).isTrue();
			assertThat(runs(this.key)).isEqualTo(1);
		}

		/** Else a few duplicates would take all connections of the others. */
		@Test
		void duplicatesOfThisNodeWaitWithoutAConnection() throws Exception {
			CompletableFuture<Answer> first = async("/gated");
			JoinedController.entered(this.key).asMono().block(PATIENCE);
			List<CompletableFuture<Answer>> duplicates = Stream.generate(() -> async("/gated"))
				.limit(2 * POOL)
				.toList();
			String other = UUID.randomUUID().toString();
			assertThat(send("/pay", other, (request) -> {
			}).status()).isEqualTo(201);
			assertThat(acquired(this.application)).isEqualTo(1);
			assertThat(duplicates)
				.allSatisfy((duplicate) -> assertThat(duplicate.join().text()).contains("in-progress"));
			JoinedController.gateOf(this.key).tryEmitEmpty();
			assertThat(first.get().text()).isEqualTo("paid " + this.key);
		}

		@Test
		void duplicateOnAnotherNodeWaitsNoLongerThanItMay() throws Exception {
			CompletableFuture<Answer> first = async("/gated");
			JoinedController.entered(this.key).asMono().block(PATIENCE);
			assertThat(onOtherNode("/gated").text()).contains("in-progress");
			JoinedController.gateOf(this.key).tryEmitEmpty();
			assertThat(first.get().text()).isEqualTo("paid " + this.key);
		}

		@Test
		void duplicateOnAnotherNodeWaitsForTheTransaction() throws Exception {
			CompletableFuture<Answer> first = async("/gated-and-waited-for");
			JoinedController.entered(this.key).asMono().block(PATIENCE);
			CompletableFuture<Answer> duplicate = CompletableFuture
				.supplyAsync(() -> onOtherNode("/gated-and-waited-for"), (task) -> new Thread(task).start());
			JoinedController.gateOf(this.key).tryEmitEmpty();
			assertThat(first.get().text()).isEqualTo("paid " + this.key);
			assertThat(duplicate.get().text()).isEqualTo("paid " + this.key);
			assertThat(duplicate.get().replayed()).isTrue();
			assertThat(runs(this.key)).isEqualTo(1);
		}

		private Answer onOtherNode(String path) {
			return new Client(port(this.cancelling)).post("/join" + path, this.key, "application/json", "{}");
		}

		@Test
		void duplicateRunsWhereTheFirstCallIsRolledBack() throws Exception {
			CompletableFuture<Answer> first = async("/gated-failure");
			JoinedController.entered(this.key).asMono().block(PATIENCE);
			List<CompletableFuture<Answer>> duplicates = Stream.generate(() -> async("/gated-failure"))
				.limit(3)
				.toList();
			JoinedController.gateOf(this.key).tryEmitEmpty();
			assertThat(first.get().status()).isEqualTo(500);
			assertThat(duplicates).allSatisfy((duplicate) -> assertThat(duplicate.join().text()).isEqualTo("paid"));
			assertThat(duplicates).filteredOn((duplicate) -> !duplicate.join().replayed()).hasSize(1);
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@Test
		void stormHasOneEffect() {
			List<CompletableFuture<Answer>> all = Stream.generate(() -> async("/pay")).limit(20).toList();
			assertThat(all.stream().map(CompletableFuture::join))
				.allSatisfy((answer) -> assertThat(answer.status()).as(answer.text()).isIn(201, 409));
			assertThat(all.stream().filter((answer) -> answer.join().status() == 201 && !answer.join().replayed()))
				.hasSize(1);
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@Test
		void anotherRequestWithTheKeyIsRejected() {
			send("/pay");
			Answer other = new Client(port(this.application)).post("/join/pay", this.key, "application/json",
					"{\"other\":1}");
			assertThat(other.status()).isEqualTo(422);
		}

		@Test
		void anotherRequestWithTheKeyIsRejectedWhileTheFirstRuns() throws Exception {
			CompletableFuture<Answer> first = async("/gated");
			JoinedController.entered(this.key).asMono().block(PATIENCE);
			Answer other = new Client(port(this.application)).post("/join/gated", this.key, "application/json",
					"{\"other\":1}");
			assertThat(other.status()).isEqualTo(422);
			JoinedController.gateOf(this.key).tryEmitEmpty();
			assertThat(first.get().text()).isEqualTo("paid " + this.key);
		}

		@Test
		void lockIsFreeAfterTheCommit() throws Exception {
			String first = UUID.randomUUID().toString();
			String second = UUID.randomUUID().toString();
			CompletableFuture<Answer> running = async("/lock", this.key, slot(first));
			JoinedController.entered(first).asMono().block(PATIENCE);
			assertThat(send("/lock", this.key, slot(second)).text()).contains("in-progress");
			JoinedController.gateOf(first).tryEmitEmpty();
			assertThat(running.get().text()).isEqualTo("paid " + first);
			JoinedController.gateOf(second).tryEmitEmpty();
			assertThat(send("/lock", this.key, slot(second)).text()).isEqualTo("paid " + second);
		}

		@Test
		void laterCallsAreCountedAndRejected() {
			assertThat(send("/reject").text()).isEqualTo("paid " + this.key);
			assertThat(send("/reject").text()).contains("duplicate");
			assertThat(send("/reject").text()).contains("\"attempts\":3");
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@Test
		void handlerGivesItsKeyBack() {
			assertThat(send("/context").text()).isEqualTo(this.key);
			assertThat(runs(this.key)).isEqualTo(1);
			assertThat(send("/context").status()).as("It runs again").isEqualTo(409);
			assertThat(send("/context").text()).isEqualTo("not committed");
		}

		@Test
		void hangUpChangesNothing() throws Exception {
			try (RawClient client = new RawClient(port(this.application))) {
				client.send("/join/gated", this.key, "", 2, "{}");
				JoinedController.entered(this.key).asMono().block(PATIENCE);
			}
			JoinedController.gateOf(this.key).tryEmitEmpty();
			await().atMost(PATIENCE).until(() -> runs(this.key) == 1);
			Answer again = send("/gated");
			assertThat(again.text()).isEqualTo("paid " + this.key);
			assertThat(again.replayed()).isTrue();
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@Test
		void hangUpRollsBackWhereItCancels() throws Exception {
			try (RawClient client = new RawClient(port(this.cancelling))) {
				client.send("/join/gated", this.key, "", 2, "{}");
				JoinedController.entered(this.key).asMono().block(PATIENCE);
			}
			await().atMost(PATIENCE).until(() -> acquired(this.cancelling) == 0);
			assertThat(runs(this.key)).isZero();
			JoinedController.gateOf(this.key).tryEmitEmpty();
			Answer again = send("/gated");
			assertThat(again.text()).isEqualTo("paid " + this.key);
			assertThat(again.replayed()).isFalse();
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@Test
		void methodIsGuarded() {
			for (int i = 0; i < 2; i++) {
				assertThat(payments().one(this.key).block(PATIENCE)).isEqualTo("paid " + this.key);
			}
			String many = UUID.randomUUID().toString();
			for (int i = 0; i < 2; i++) {
				assertThat(payments().many(many).collectList().block(PATIENCE)).containsExactly("paid", many);
			}
			String nothing = UUID.randomUUID().toString();
			for (int i = 0; i < 2; i++) {
				assertThat(payments().nothing(nothing).blockOptional(PATIENCE)).isEmpty();
			}
			assertThat(List.of(runs(this.key), runs(many), runs(nothing))).containsOnly(1);
		}

		@Test
		void failureOfAMethodRollsBothBack() {
			for (int i = 0; i < 2; i++) {
				assertThatThrownBy(() -> payments().fails(this.key).block(PATIENCE)).hasMessage("It fails on purpose");
			}
			assertThat(runs(this.key)).isZero();
		}

		/** A caller that leaves changes nothing. */
		@Test
		void methodGoesOnWithoutItsCaller() {
			Mono<String> call = payments().gated(this.key);
			reactor.core.Disposable caller = call.subscribe();
			JoinedController.entered(this.key).asMono().block(PATIENCE);
			caller.dispose();
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> payments().gated(this.key).block(PATIENCE));
			JoinedController.gateOf(this.key).tryEmitEmpty();
			assertThat(payments().gated(this.key).block(PATIENCE)).isEqualTo("paid " + this.key);
			assertThat(runs(this.key)).isEqualTo(1);
		}

		@Test
		void callInsideOfATransactionIsRejected() {
			TransactionalOperator operator = TransactionalOperator
				.create(this.application.getBean(ReactiveTransactionManager.class));
			assertThatThrownBy(() -> operator.transactional(payments().one(this.key)).block(PATIENCE))
				.hasMessageContaining("it is inside an open reactive transaction");
			assertThat(runs(this.key)).isZero();
		}

	}

}
