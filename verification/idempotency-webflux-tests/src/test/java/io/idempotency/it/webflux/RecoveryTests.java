package io.idempotency.it.webflux;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyListener;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Results that are not stored are looked up by {@code recover}, on the way that the
 * handler is reached by, and rendered as its own.
 */
@SpringBootTest(classes = { WebFluxApplication.class, RecoveryController.class, RecoveryTests.Around.class },
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "idempotency.http.on-disconnect=cancel")
class RecoveryTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final String id = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	private Client client;

	@BeforeEach
	void connect() {
		this.client = new Client(this.port);
	}

	private Answer send(String form, String work) {
		return this.client.post("/recovery/" + form + "/" + this.id + "/" + work, this.id, "application/json", "{}",
				(request) -> {
				});
	}

	private int runs() {
		AtomicInteger runs = OrdersController.RUNS.get("recovery " + this.id);
		return (runs != null) ? runs.get() : 0;
	}

	private void finds(String found) {
		RecoveryController.FOUND.put(this.id, found);
	}

	private static void assertFound(Answer answer, String form) {
		assertThat(answer.text()).isEqualTo(form.equals("nothing") ? "" : "found");
		assertThat(answer.status()).isEqualTo(form.startsWith("fl") ? 200 : 201);
		assertThat(answer.replayed()).isTrue();
		assertThat(answer.header("Cache-Control")).contains("no-store");
	}

	private static void assertUnavailable(Answer answer) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(409);
		assertThat(answer.text()).contains("\"code\":\"result-unavailable\"");
	}

	@ParameterizedTest
	@ValueSource(strings = { "mono", "future", "flux", "nothing" })
	void whatWasDoneBeforeIsFoundAndKept(String form) {
		finds("found");
		assertFound(send(form, "already"), form);
		finds("other");
		assertFound(send(form, "already"), form);
		assertThat(runs()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "mono", "future", "flux", "nothing" })
	void failsWhenRecoverDoesNotFindTheResult(String form) {
		assertThat(send(form, "already").status()).isEqualTo(500);
		assertThat(send(form, "already").status()).isEqualTo(500);
		assertThat(runs()).isEqualTo(2);
	}

	@Test
	void failedBodyOfWorkThatWasDoneBeforeIsRejectedAndDoesNotRunAgain() {
		String form = "entity-of-mono";
		assertUnavailable(send(form, "already"));
		assertUnavailable(send(form, "already"));
		finds("found");
		assertFound(send(form, "already"), form);
		assertThat(runs()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "mono", "future", "flux", "entity-of-mono", "nothing" })
	void lookUpThatFailsLetsNothingRunAgain(String form) {
		finds("fails");
		assertUnavailable(send(form, "already"));
		assertThat(send(form, "already").status()).isEqualTo(500);
		finds("found");
		assertFound(send(form, "already"), form);
		assertThat(runs()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "mono", "future", "entity-of-mono" })
	void answerThatWasTooLargeIsFound(String form) {
		assertThat(send(form, "large").body()).hasSize(3 << 20);
		assertUnavailable(send(form, "large"));
		finds("found");
		assertFound(send(form, "large"), form);
		finds("found");
		assertFound(send(form, "large"), form);
		assertThat(runs()).isEqualTo(1);
	}

	/** Its own header comes with what was found, and is kept with it. */
	@Test
	void wholeAnswerIsThatOfTheLookUp() {
		finds("found");
		assertThat(send("mono", "already").header("X-Own")).isEqualTo("own");
		assertThat(send("mono", "already").header("X-Own")).isEqualTo("own");
	}

	@ParameterizedTest
	@ValueSource(strings = { "mono", "future", "flux", "entity-of-mono", "nothing" })
	void resultOfADeadOwnerIsFound(String form) throws Exception {
		hangUp(form);
		finds("found");
		Answer answer = await().atMost(PATIENCE).until(() -> send(form, "gate"), (sent) -> sent.status() < 300);
		assertFound(answer, form);
		assertFound(send(form, "gate"), form);
		assertThat(runs()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "mono", "future", "flux", "entity-of-mono", "nothing" })
	void whereNothingIsFoundOfADeadOwnerTheWorkRuns(String form) throws Exception {
		hangUp(form);
		OrdersController.GATES.get(this.id).tryEmitEmpty();
		Answer answer = await().atMost(PATIENCE).until(() -> send(form, "gate"), (sent) -> sent.status() < 300);
		assertThat(answer.text()).isEqualTo(form.equals("nothing") ? "" : "ran");
		assertThat(answer.replayed()).isFalse();
		assertThat(runs()).isEqualTo(2);
	}

	/** The key is free again, and another call may find what this one could not. */
	@Test
	void lookUpOfADeadOwnerThatFailsRunsNothing() throws Exception {
		hangUp("mono");
		finds("fails");
		await().atMost(PATIENCE).until(() -> send("mono", "gate"), (sent) -> sent.status() == 500);
		finds("found");
		Answer answer = await().atMost(PATIENCE).until(() -> send("mono", "gate"), (sent) -> sent.status() < 300);
		assertFound(answer, "mono");
		assertThat(runs()).isEqualTo(1);
	}

	/** Its answer would be kept, though nobody knows whether the work was done. */
	@ParameterizedTest
	@ValueSource(strings = { "mono", "future", "flux" })
	void lookUpOfADeadOwnerThatAdviceEndsIsNoResult(String form) throws Exception {
		hangUp(form);
		finds("hangs");
		Answer ended = await().atMost(PATIENCE).until(() -> send(form, "gate"), (sent) -> !isInProgress(sent));
		assertThat(ended.replayed()).as(ended.text()).isFalse();
		finds("found");
		Answer answer = await().atMost(PATIENCE).until(() -> send(form, "gate"), (sent) -> sent.status() < 300);
		assertFound(answer, form);
		assertThat(runs()).isEqualTo(1);
	}

	private static boolean isInProgress(Answer answer) {
		return answer.text().contains("\"code\":\"in-progress\"");
	}

	@Test
	void whatIsRejectedBeforeTheLookUpIsNotCountedAsRecovered() {
		assertThat(send("mono", "large").body()).hasSize(3 << 20);
		Around.RECOVERED.set(0);
		finds("rejected");
		Answer rejected = send("mono", "large");
		assertThat(rejected.status()).isEqualTo(409);
		assertThat(rejected.text()).startsWith("sold");
		assertThat(rejected.replayed()).isFalse();
		assertThat(Around.RECOVERED).hasValue(0);
		finds("found");
		assertFound(send("mono", "large"), "mono");
		assertThat(Around.RECOVERED).hasValue(1);
		assertThat(runs()).isEqualTo(1);
	}

	/** The work is cancelled with its client, and its key left to the lease. */
	private void hangUp(String form) throws Exception {
		try (RawClient raw = new RawClient(this.port)) {
			raw.send("/recovery/" + form + "/" + this.id + "/gate", this.id, "", 2, "{}");
			await().atMost(PATIENCE).until(() -> runs() == 1);
		}
		await().atMost(PATIENCE).until(() -> OrdersController.RUNS.containsKey("recovery-cancelled " + this.id));
	}

	/**
	 * What an application may have around its handlers: it ends a look-up that hangs, and
	 * rejects a request before it.
	 */
	@TestConfiguration(proxyBeanMethods = false)
	static class Around {

		static final AtomicInteger RECOVERED = new AtomicInteger();

		@Bean
		IdempotencyListener recovered() {
			return (event, operation) -> {
				if (event == IdempotencyEvent.RECOVERED) {
					RECOVERED.incrementAndGet();
				}
			};
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor limit() {
			NameMatchMethodPointcut limited = new NameMatchMethodPointcut();
			limited.setClassFilter((type) -> type == RecoveryController.class);
			limited.setMappedNames("mono", "future", "flux");
			DefaultPointcutAdvisor limit = new DefaultPointcutAdvisor(limited, (MethodInterceptor) Around::limited);
			limit.setOrder(0);
			return limit;
		}

		private static Object limited(MethodInvocation call) throws Throwable {
			String found = RecoveryController.FOUND.get((String) call.getArguments()[0]);
			if ("rejected".equals(found)) {
				throw new WebFluxApplication.SoldException("before");
			}
			Object result = call.proceed();
			if (!"hangs".equals(found)) {
				return result;
			}
			WebFluxApplication.SoldException over = new WebFluxApplication.SoldException("over");
			return (result instanceof Mono<?> mono) ? Mono.firstWithSignal(mono, Mono.error(over))
					: (result instanceof Flux<?> flux) ? Flux.firstWithSignal(flux, Flux.error(over))
							: CompletableFuture.failedFuture(over);
		}

	}

}
