package io.idempotency.it.webflux;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.SqlDatabase;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Advice around the guard that ends the work of a handler, or begins it once more. What
 * it has done until then must not be committed.
 */
class JoinedAdviceTests {

	private static final String KEY = "Idempotency-Key";

	private static final SqlDatabase database = new SqlDatabase(
			"jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1", 0, "sa");

	private static ConfigurableApplicationContext application;

	/** Gets the result of a handler, and its key. */
	private static BiFunction<Object, String, Object> around;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		database.jdbc().execute("CREATE TABLE payment (id VARCHAR(64) PRIMARY KEY, slot VARCHAR(64))");
		NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(
				(MethodInterceptor) (call) -> around.apply(call.proceed(), (String) call.getArguments()[0]));
		advisor.setMappedName("*");
		advisor.setClassFilter(Advised.class::isAssignableFrom);
		advisor.setOrder(Ordered.HIGHEST_PRECEDENCE);
		application = JoinTests.Scenarios.application(database, "continue", (context) -> {
			GenericApplicationContext beans = (GenericApplicationContext) context;
			beans.registerBean("advisor", Advisor.class, () -> advisor,
					(definition) -> definition.setRole(BeanDefinition.ROLE_INFRASTRUCTURE));
			beans.registerBean(Advised.class);
		});
	}

	@AfterAll
	static void stop() {
		if (application != null) {
			application.close();
		}
	}

	@BeforeEach
	void forget() {
		database.jdbc().execute("DELETE FROM payment");
		database.jdbc().execute("DELETE FROM idempotency_record");
	}

	/** As advice does that has a time limit and an answer in place of the late one. */
	@ParameterizedTest
	@ValueSource(strings = { "/one", "/written" })
	void workThatIsCancelledIsRolledBack(String path) {
		AtomicBoolean patient = new AtomicBoolean();
		around = (result, id) -> patient.get() ? result
				: instead(result, later(id, path.equals("/written") ? Mono.empty() : Mono.just("later")));
		Answer answer = send(path);
		assertThat(answer.status()).as(answer.text()).isEqualTo(200);
		assertThat(answer.text()).isEqualTo(path.equals("/written") ? "" : "later");
		assertThat(rows("payment")).isZero();
		assertThat(rows("idempotency_record")).isZero();
		patient.set(true);
		JoinedController.gateOf(this.key).tryEmitEmpty();
		assertThat(send(path).replayed()).isFalse();
		assertThat(send(path).replayed()).isTrue();
		assertThat(rows("payment")).isEqualTo(1);
	}

	/** The rows of the run that has failed are in the transaction, too. */
	@ParameterizedTest
	@ValueSource(strings = { "/fails-once", "/fails-once-void" })
	void workThatIsRepeatedIsRolledBack(String path) {
		around = (result, id) -> again(result);
		assertThat(send(path).status()).isEqualTo(500);
		assertThat(rows("payment")).isZero();
		assertThat(rows("idempotency_record")).isZero();
		assertThat(send(path).status()).isEqualTo(200);
		assertThat(rows("payment")).isEqualTo(1);
	}

	private static Mono<String> later(String id, Mono<String> answer) {
		return JoinedController.entered(id).asMono().then(answer);
	}

	private static Object instead(Object result, Mono<String> other) {
		return Mono.firstWithSignal((Mono<?>) result, other);
	}

	private static Object again(Object result) {
		return ((Mono<?>) result).retry(1);
	}

	private static int rows(String table) {
		return database.jdbc().queryForObject("SELECT COUNT(*) FROM " + table, Integer.class);
	}

	private Answer send(String path) {
		return new Client(JoinTests.Scenarios.port(application)).post("/advised" + path, this.key, "application/json",
				"{}");
	}

	/** Handlers that have written a row when they wait, or fail. */
	@RestController
	@RequestMapping(path = "/advised", produces = MediaType.TEXT_PLAIN_VALUE)
	static class Advised {

		private final JoinedController.Ledger ledger;

		private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();

		Advised(JoinedController.Ledger ledger) {
			this.ledger = ledger;
		}

		private Mono<String> gated(String key) {
			return this.ledger.pay(key).then(JoinedController.gate(key)).thenReturn(key);
		}

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/one")
		Mono<String> one(@RequestHeader(KEY) String key) {
			return gated(key);
		}

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/written")
		Mono<Void> written(@RequestHeader(KEY) String key, ServerWebExchange exchange) {
			return gated(key).then();
		}

		private Mono<String> failsOnce(String key) {
			return Mono.defer(() -> {
				int run = this.runs.computeIfAbsent(key, (fresh) -> new AtomicInteger()).incrementAndGet();
				return this.ledger.pay(key + run)
					.then((run == 1) ? Mono.error(new IllegalStateException("It fails on purpose")) : Mono.just(key));
			});
		}

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/fails-once")
		Mono<String> failsOnceOne(@RequestHeader(KEY) String key) {
			return failsOnce(key);
		}

		@Idempotent(transaction = TransactionMode.JOIN)
		@PostMapping("/fails-once-void")
		Mono<Void> failsOnceVoid(@RequestHeader(KEY) String key, ServerWebExchange exchange) {
			return failsOnce(key).then();
		}

	}

}
