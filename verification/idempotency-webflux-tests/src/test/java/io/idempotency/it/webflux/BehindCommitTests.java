package io.idempotency.it.webflux;

import java.util.UUID;

import io.idempotency.FailureMode;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
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
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/** What fails behind the commit of a reactive transaction undoes nothing. */
class BehindCommitTests {

	private static final String KEY = "Idempotency-Key";

	private static final SqlDatabase database = new SqlDatabase(
			"jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", 0, "sa");

	private static ConfigurableApplicationContext application;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		database.jdbc().execute("CREATE TABLE payment (id VARCHAR(64), slot VARCHAR(64))");
		application = JoinTests.Scenarios.application(database, "continue", (context) -> {
			GenericApplicationContext beans = (GenericApplicationContext) context;
			beans.registerBean(Charges.class);
			beans.registerBean(Answering.class);
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
	@ValueSource(strings = { "/answers", "/remembers", "/remembers-by-service" })
	void answerOfTheFailureIsKept(String path) {
		Answer first = post(path);
		assertThat(first.status()).isGreaterThanOrEqualTo(409);
		Answer second = post(path);
		assertThat(second.replayed()).isTrue();
		assertThat(second.status()).isEqualTo(first.status());
		assertThat(rows(this.key)).isEqualTo(1);
	}

	/** Its own transaction is rolled back by the failure of the other one. */
	@ParameterizedTest
	@ValueSource(strings = { "/with-log", "/fails-later" })
	void handlerIsFreeWhenItHasFailedItself(String path) {
		for (int run = 1; run <= 2; run++) {
			assertThat(post(path).status()).isEqualTo(500);
			assertThat(rows(this.key + "-log")).isEqualTo(run);
		}
		assertThat(rows(this.key)).isZero();
	}

	@Test
	void answerThatHasCommittedIsTheAnswer() {
		assertThat(post("/joined").text()).isEqualTo("paid");
		Answer second = post("/joined");
		assertThat(second.text()).isEqualTo("paid");
		assertThat(second.replayed()).isTrue();
		assertThat(rows(this.key)).isEqualTo(1);
	}

	private Answer post(String path) {
		return new Client(JoinTests.Scenarios.port(application)).post("/behind" + path, this.key, "application/json",
				"{}");
	}

	private static int rows(String id) {
		return database.jdbc().queryForObject("SELECT COUNT(*) FROM payment WHERE id = ?", Integer.class, id);
	}

	private static Mono<Void> failBehindTheCommit() {
		return TransactionSynchronizationManager.forCurrentTransaction()
			.doOnNext((current) -> current.registerSynchronization(new TransactionSynchronization() {

				@Override
				public Mono<Void> afterCommit() {
					return Mono.error(new IllegalStateException("The mail could not be sent"));
				}

			}))
			.then();
	}

	@RestController
	@RequestMapping(path = "/behind", produces = MediaType.TEXT_PLAIN_VALUE)
	static class Charges {

		private final JoinedController.Ledger ledger;

		private final Services services;

		Charges(JoinedController.Ledger ledger, Services services) {
			this.ledger = ledger;
			this.services = services;
		}

		@Transactional
		@Idempotent
		@PostMapping("/own")
		Mono<String> own(@RequestHeader(KEY) String key) {
			return this.ledger.pay(key).then(failBehindTheCommit()).thenReturn("paid");
		}

		@Idempotent
		@PostMapping("/by-service")
		Mono<String> byService(@RequestHeader(KEY) String key) {
			return this.services.pay(key).thenReturn("paid");
		}

		@Transactional
		@Idempotent
		@PostMapping("/with-log")
		Mono<String> withLog(@RequestHeader(KEY) String key) {
			return this.ledger.pay(key).then(this.services.log(key + "-log")).thenReturn("paid");
		}

		@Idempotent
		@PostMapping("/fails-later")
		Mono<String> failsLater(@RequestHeader(KEY) String key) {
			return this.ledger.payInTransaction(key + "-log")
				.then(Mono.error(new IllegalStateException("It fails on purpose")));
		}

		@Transactional
		@Idempotent(onFailure = FailureMode.REMEMBER)
		@PostMapping("/remembers")
		Mono<String> remembers(@RequestHeader(KEY) String key) {
			return own(key);
		}

		@Idempotent(onFailure = FailureMode.REMEMBER)
		@PostMapping("/remembers-by-service")
		Mono<String> remembersByService(@RequestHeader(KEY) String key) {
			return byService(key);
		}

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/joined")
		Mono<String> joined(@RequestHeader(KEY) String key) {
			return own(key);
		}

	}

	@RestController
	@RequestMapping(path = "/behind", produces = MediaType.TEXT_PLAIN_VALUE)
	static class Answering {

		private final Services services;

		Answering(Services services) {
			this.services = services;
		}

		@Idempotent
		@PostMapping("/answers")
		Mono<String> answers(@RequestHeader(KEY) String key) {
			return this.services.pay(key).thenReturn("paid");
		}

		@ExceptionHandler
		ResponseEntity<String> handle(IllegalStateException ex) {
			return ResponseEntity.status(409).body("not sent");
		}

	}

	static class Services {

		private final JoinedController.Ledger ledger;

		Services(JoinedController.Ledger ledger) {
			this.ledger = ledger;
		}

		@Transactional
		public Mono<Void> pay(String id) {
			return this.ledger.pay(id).then(failBehindTheCommit());
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public Mono<Void> log(String id) {
			return pay(id);
		}

	}

}
