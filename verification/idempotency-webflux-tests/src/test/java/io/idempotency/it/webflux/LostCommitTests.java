package io.idempotency.it.webflux;

import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.FailureMode;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A commit over R2DBC that was tried and not answered leaves the key to its lease. One
 * that was answered with an error frees it.
 */
@Requires(Backend.POSTGRESQL)
class LostCommitTests {

	private static final String KEY = "Idempotency-Key";

	private static final Map<String, Integer> RUNS = new ConcurrentHashMap<>();

	private static SqlDatabase database;

	private static ConfigurableApplicationContext application;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		database = PostgreSqlServer.shared(PostgreSqlBinary.values()[0]).newDatabase();
		database.jdbc().execute("CREATE TABLE payment (id VARCHAR(64), slot VARCHAR(64))");
		database.jdbc().execute("""
				CREATE FUNCTION ends() RETURNS trigger LANGUAGE plpgsql AS $$
				BEGIN
					IF NEW.slot = 'lost' THEN
						PERFORM pg_terminate_backend(pg_backend_pid());
						PERFORM pg_sleep(60);
					ELSIF NEW.slot = 'rejected' THEN
						RAISE EXCEPTION 'taken' USING ERRCODE = '23505';
					ELSIF NEW.slot = 'late' THEN
						PERFORM pg_advisory_xact_lock(1);
					END IF;
					RETURN NULL;
				END $$""");
		database.jdbc().execute("""
				CREATE CONSTRAINT TRIGGER ends AFTER INSERT ON payment DEFERRABLE INITIALLY DEFERRED
				FOR EACH ROW EXECUTE FUNCTION ends()""");
		application = JoinTests.Scenarios.application(database, "continue", (context) -> {
			GenericApplicationContext beans = (GenericApplicationContext) context;
			beans.registerBean(Charges.class);
			beans.registerBean(Services.class);
		});
	}

	@AfterAll
	static void stop() {
		if (application != null) {
			application.close();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/own", "/by-service", "/repeated" })
	void commitThatIsNotAnsweredKeepsTheKey(String path) {
		assertThat(post(path, "lost").status()).isGreaterThanOrEqualTo(500);
		assertThat(post(path, "none").text()).contains("in-progress");
		assertThat(runs()).isEqualTo(1);
	}

	@Test
	void failureThatIsRememberedIsKept() {
		assertThat(post("/remembers", "lost").status()).isEqualTo(500);
		Answer second = post("/remembers", "none");
		assertThat(second.replayed()).isTrue();
		assertThat(second.status()).isEqualTo(500);
		assertThat(runs()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/own", "/by-service", "/answers" })
	void commitThatIsRejectedFreesTheKey(String path) {
		assertThat(post(path, "rejected").status()).isGreaterThanOrEqualTo(500);
		assertThat(post(path, "none").text()).isEqualTo("paid");
		assertThat(runs()).isEqualTo(2);
	}

	/** What gives up waiting does not stop the commit. */
	@Test
	void commitThatIsNotWaitedForKeepsTheKey() {
		database.jdbc().execute((ConnectionCallback<Void>) (connection) -> {
			connection.createStatement().execute("SELECT pg_advisory_lock(1)");
			try {
				assertThat(post("/in-time", "late").status()).isEqualTo(500);
				assertThat(post("/in-time", "none").text()).contains("in-progress");
			}
			finally {
				connection.createStatement().execute("SELECT pg_advisory_unlock(1)");
			}
			return null;
		});
		assertThat(runs()).isEqualTo(1);
	}

	private Answer post(String path, String slot) {
		return new Client(JoinTests.Scenarios.port(application)).post("/lost" + path, this.key, "application/json",
				"{}", (request) -> request.header("Slot", slot));
	}

	private int runs() {
		return RUNS.get(this.key);
	}

	@RestController
	@RequestMapping(path = "/lost", produces = MediaType.TEXT_PLAIN_VALUE)
	static class Charges {

		private final Services services;

		Charges(Services services) {
			this.services = services;
		}

		@Transactional
		@Idempotent
		@PostMapping("/own")
		Mono<String> own(@RequestHeader(KEY) String key, @RequestHeader("Slot") String slot) {
			return this.services.work(key, slot);
		}

		@Idempotent
		@PostMapping("/by-service")
		Mono<String> byService(@RequestHeader(KEY) String key, @RequestHeader("Slot") String slot) {
			return this.services.pay(key, slot);
		}

		/** What notes the failure is rolled back itself. */
		@Idempotent
		@PostMapping("/repeated")
		Mono<String> repeated(@RequestHeader(KEY) String key, @RequestHeader("Slot") String slot) {
			return byService(key, slot)
				.onErrorResume((failure) -> this.services.fail().onErrorComplete().then(Mono.error(failure)));
		}

		@Idempotent
		@PostMapping("/answers")
		Mono<ResponseEntity<String>> answers(@RequestHeader(KEY) String key, @RequestHeader("Slot") String slot) {
			return byService(key, slot).map(ResponseEntity::ok)
				.onErrorResume((failure) -> Mono.just(ResponseEntity.status(503).body("try again")));
		}

		@Idempotent
		@PostMapping("/in-time")
		Mono<String> inTime(@RequestHeader(KEY) String key, @RequestHeader("Slot") String slot) {
			return byService(key, slot).timeout(Duration.ofSeconds(1))
				.onErrorMap((failure) -> new IllegalStateException("It takes too long", failure));
		}

		@Idempotent(onFailure = FailureMode.REMEMBER)
		@PostMapping("/remembers")
		Mono<String> remembers(@RequestHeader(KEY) String key, @RequestHeader("Slot") String slot) {
			return byService(key, slot);
		}

	}

	static class Services {

		private final JoinedController.Ledger ledger;

		Services(JoinedController.Ledger ledger) {
			this.ledger = ledger;
		}

		@Transactional
		public Mono<String> pay(String id, String slot) {
			return work(id, slot);
		}

		@Transactional
		public Mono<String> fail() {
			return Mono.error(new IllegalStateException("It fails on purpose"));
		}

		/** Counts its runs, whatever becomes of its transaction. */
		Mono<String> work(String id, String slot) {
			RUNS.merge(id, 1, Integer::sum);
			return this.ledger.book(id, slot).thenReturn("paid");
		}

	}

}
