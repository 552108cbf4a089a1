package io.idempotency.it.webflux;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.function.BiFunction;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.Idempotent;
import io.idempotency.AbandonedMode;
import io.idempotency.IdempotencyRecord;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.Scenario;
import org.aopalliance.intercept.MethodInterceptor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.core.Ordered;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.Resource;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

import static io.idempotency.it.webflux.OrdersController.gate;
import static io.idempotency.it.webflux.OrdersController.run;
import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/**
 * Advice around the guard that ends the work of a handler half way and answers in its
 * place. What the work has done nobody takes back, so it neither runs again at once nor
 * is it done.
 */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@Import({ CutOffTests.Around.class, CutOffTests.Limited.class })
class CutOffTests {

	private static final String KEY = "Idempotency-Key";

	private static final Map<String, Sinks.Empty<Void>> ENTERED = new ConcurrentHashMap<>();

	private static final Mono<Object> FALLBACK = Mono.just("try later");

	private static final Mono<Object> FAILURE = Mono
		.error(() -> new ResponseStatusException(HttpStatus.GATEWAY_TIMEOUT));

	private final String key = UUID.randomUUID().toString();

	@Autowired
	private IdempotencyAdmin admin;

	@Value("${local.server.port}")
	private int port;

	private Answer send(String path) {
		return new Client(this.port).post("/limited" + path, this.key, "application/json", "{}");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/one", "/many", "/one-body", "/one-bodies", "/one-flow-body" })
	void workWhoseAnswerIsThatOfAdviceIsNotDone(String path) {
		Around.advice = (result, id) -> instead(result, entered(id).then(FALLBACK));
		assertThat(send(path).text()).contains("try later");
		assertThatItsEndIsNotKnown(path);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/one", "/many", "/one-body", "/one-bodies", "/one-flow-body" })
	void workThatAdviceMakesAFailureOfDoesNotRunAgain(String path) {
		Around.advice = (result, id) -> instead(result, entered(id).then(FAILURE));
		assertThat(send(path).status()).isEqualTo(504);
		assertThatItsEndIsNotKnown(path);
	}

	/** Its client has the beginning of the answer. */
	@Test
	void streamThatAdviceEndsIsNotDone() {
		Around.advice = (result, id) -> ((Flux<?>) result).takeUntilOther(entered(id));
		assertThat(send("/stream").text()).contains("first").doesNotContain("paid");
		Around.advice = (result, id) -> result;
		assertThatItsEndIsNotKnown("/stream");
	}

	@Test
	void streamThatAdviceLetsFailDoesNotRunAgain() throws Exception {
		Around.advice = (result, id) -> ((Flux<?>) result).takeUntilOther(entered(id).then(FAILURE));
		Client client = new Client(this.port);
		HttpRequest.Builder request = client.to("/limited/stream")
			.header(KEY, this.key)
			.header("Content-Type", "application/json")
			.POST(HttpRequest.BodyPublishers.ofString("{}"));
		try (InputStream body = client.open(request).body()) {
			assertThatThrownBy(body::readAllBytes).isInstanceOf(IOException.class);
		}
		Around.advice = (result, id) -> result;
		assertThatItsEndIsNotKnown("/stream");
	}

	/** The failure of another run says nothing about the one that was cut off. */
	@Test
	void workThatIsCutOffAndThenFailsDoesNotRunAgain() {
		Around.advice = (result, id) -> Mono
			.firstWithSignal((Mono<?>) result, entered(id).then(Mono.error(new IllegalStateException("It is late"))))
			.retry(1);
		assertThat(send("/fails-the-second-time").status()).isEqualTo(500);
		assertThat(runs("limited " + this.key)).isEqualTo(2);
		Scenario.assertCode(send("/fails-the-second-time"), 409, "in-progress");
		assertThat(runs("limited " + this.key)).isEqualTo(2);
	}

	/** Nor does an entity whose body fails. */
	@Test
	void bodyThatIsCutOffAndThenFailsDoesNotRunAgain() {
		Around.advice = (result, id) -> ((Mono<?>) result)
			.flatMap((entity) -> Mono.firstWithSignal((Mono<?>) ((ResponseEntity<?>) entity).getBody(),
					entered(id).then(Mono.error(new IllegalStateException("It is late")))))
			.map(ResponseEntity::ok)
			.retry(1);
		assertThat(send("/body-fails-the-second-time").status()).isEqualTo(500);
		assertThat(runs("limited " + this.key)).isEqualTo(2);
		Scenario.assertCode(send("/body-fails-the-second-time"), 409, "in-progress");
		assertThat(runs("limited " + this.key)).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/one", "/many", "/one-body", "/one-flow-body", "/resources" })
	void workThatIsLeftToEndIsDone(String path) {
		Around.advice = (result, id) -> result;
		OrdersController.GATES.computeIfAbsent(this.key, (id) -> Sinks.empty()).tryEmitEmpty();
		Answer first = send(path);
		assertThat(first.status()).isEqualTo(200);
		assertThat(first.text()).contains("paid");
		Answer second = send(path);
		assertThat(second.replayed()).isTrue();
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(runs("limited " + this.key)).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/fails-one", "/fails-http-entity", "/fails-one-flow-body" })
	void workThatFailsByItselfRunsAgain(String path) {
		Around.advice = (result, id) -> result;
		assertThat(send(path).status()).isEqualTo(500);
		assertThat(send(path).status()).isEqualTo(500);
		assertThat(runs("limited " + this.key)).isEqualTo(2);
	}

	@Test
	void workThatIsCutOffAndThenSucceedsIsDone() {
		Around.advice = (result, id) -> Mono
			.firstWithSignal((Mono<?>) result, entered(id).then(Mono.error(new IllegalStateException("It is late"))))
			.retry(1);
		assertThat(send("/succeeds-the-second-time").text()).contains("run 2");
		assertThat(send("/succeeds-the-second-time").replayed()).isTrue();
		assertThat(runs("limited " + this.key)).isEqualTo(2);
	}

	@Test
	void leaseDecidesWhenItIsOver() {
		Around.advice = (result, id) -> instead(result, entered(id).then(FALLBACK));
		assertThat(send("/rejected-when-abandoned").text()).contains("try later");
		Answer repeated = await().until(() -> send("/rejected-when-abandoned"),
				(answer) -> !answer.text().contains("\"in-progress\""));
		Scenario.assertCode(repeated, 409, "outcome-unknown");
		assertThat(runs("limited " + this.key)).isEqualTo(1);
	}

	/** The client was there when the work was cut off, so it is not why. */
	@Test
	void streamThatAdviceEndsIsNotDoneWhenItsClientHangsUpAfterThat() throws Exception {
		Sinks.Empty<Void> cut = Sinks.empty();
		Around.advice = (result, id) -> ((Flux<?>) result).takeUntilOther(entered(id))
			.cast(Object.class)
			.concatWith(Mono.never().doOnSubscribe((more) -> cut.tryEmitEmpty()));
		try (RawClient client = new RawClient(this.port)) {
			client.send("/limited/stream-rejected-when-abandoned", this.key, "", 2, "{}").awaitAnswer();
			cut.asMono().block(Duration.ofMinutes(1));
		}
		Around.advice = (result, id) -> result;
		Answer repeated = await().until(() -> send("/stream-rejected-when-abandoned"),
				(answer) -> !answer.text().contains("\"in-progress\""));
		Scenario.assertCode(repeated, 409, "outcome-unknown");
	}

	private void assertThatItsEndIsNotKnown(String path) {
		Scenario.assertCode(send(path), 409, "in-progress");
		assertThat(runs("limited " + this.key)).isEqualTo(1);
		assertThat(this.admin.find("limited" + path, IdempotencyCaller.anonymous(), this.key))
			.hasValueSatisfying((found) -> assertThat(found.state()).isEqualTo(IdempotencyRecord.State.RUNNING));
	}

	private static Mono<Void> entered(String key) {
		return ENTERED.computeIfAbsent(key, (id) -> Sinks.empty()).asMono();
	}

	@SuppressWarnings("unchecked")
	private static Object instead(Object result, Mono<Object> other) {
		if (result instanceof HttpEntity<?> entity) {
			return ResponseEntity.ok(instead(entity.getBody(), other));
		}
		if (result instanceof Flow.Publisher<?> flow) {
			return JdkFlowAdapter
				.publisherToFlowPublisher((Flux<?>) instead(JdkFlowAdapter.flowPublisherToFlux(flow), other));
		}
		if (result instanceof Flux<?> flux) {
			return Flux.firstWithSignal(flux, other.flux());
		}
		if (result instanceof CompletableFuture<?> future) {
			other.subscribe(null, (thrown) -> future.cancel(true), () -> future.cancel(true));
			return Mono.<Object>fromFuture((CompletableFuture<Object>) future)
				.onErrorResume((cancelled) -> other)
				.toFuture();
		}
		// It may be the body of an entity that is late.
		return (result instanceof Mono<?> mono)
				? Mono.firstWithSignal(mono.map((value) -> instead(value, other)), other) : result;
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class Around {

		/** Gets the result of a handler, and its key. */
		static volatile BiFunction<Object, String, Object> advice = (result, id) -> result;

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static Advisor around() {
			NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(
					(MethodInterceptor) (call) -> advice.apply(call.proceed(), (String) call.getArguments()[0]));
			advisor.setMappedName("*");
			advisor.setClassFilter(Limited.class::isAssignableFrom);
			advisor.setOrder(Ordered.HIGHEST_PRECEDENCE);
			return advisor;
		}

	}

	/** Handlers that have done something, and wait then. */
	@RestController
	@RequestMapping(path = "/limited")
	static class Limited {

		private static Mono<Object> work(String key) {
			return Mono.defer(() -> {
				run("limited " + key);
				ENTERED.computeIfAbsent(key, (id) -> Sinks.empty()).tryEmitEmpty();
				return gate(key).thenReturn("paid");
			});
		}

		@Idempotent(operation = "limited/one")
		@PostMapping("/one")
		Mono<Object> one(@RequestHeader(KEY) String key) {
			return work(key);
		}

		@Idempotent(operation = "limited/many")
		@PostMapping("/many")
		Flux<Object> many(@RequestHeader(KEY) String key) {
			return work(key).flux();
		}

		/** Spring cancels it behind the first one. */
		@Idempotent(operation = "limited/resources")
		@PostMapping("/resources")
		Flux<Resource> resources(@RequestHeader(KEY) String key) {
			return work(key).flux()
				.map((paid) -> new ByteArrayResource(paid.toString().getBytes(StandardCharsets.UTF_8)));
		}

		@Idempotent(operation = "limited/one-body")
		@PostMapping("/one-body")
		Mono<ResponseEntity<Mono<Object>>> oneBody(@RequestHeader(KEY) String key) {
			return Mono.just(ResponseEntity.ok(work(key)));
		}

		@Idempotent(operation = "limited/one-bodies")
		@PostMapping("/one-bodies")
		Mono<ResponseEntity<Flux<Object>>> oneBodies(@RequestHeader(KEY) String key) {
			return Mono.just(ResponseEntity.ok(work(key).flux()));
		}

		@Idempotent(operation = "limited/stream")
		@PostMapping(path = "/stream", produces = MediaType.APPLICATION_NDJSON_VALUE)
		Flux<Object> stream(@RequestHeader(KEY) String key) {
			return Flux.concat(Mono.just(Map.of("id", "first")), work(key).map((paid) -> Map.of("id", paid)));
		}

		@Idempotent(lease = "1s", onAbandoned = AbandonedMode.REJECT)
		@PostMapping(path = "/stream-rejected-when-abandoned", produces = MediaType.APPLICATION_NDJSON_VALUE)
		Flux<Object> streamRefusedWhenAbandoned(@RequestHeader(KEY) String key) {
			return stream(key);
		}

		@Idempotent(operation = "limited/one-flow-body")
		@PostMapping("/one-flow-body")
		Mono<ResponseEntity<Flow.Publisher<Object>>> oneFlowBody(@RequestHeader(KEY) String key) {
			return Mono.just(ResponseEntity.ok(JdkFlowAdapter.publisherToFlowPublisher(work(key))));
		}

		private static Mono<Object> failing(String key) {
			return Mono.error(() -> new IllegalStateException("It fails on purpose, in run " + run("limited " + key)));
		}

		@Idempotent
		@PostMapping("/fails-one")
		Mono<Object> failsOne(@RequestHeader(KEY) String key) {
			return failing(key);
		}

		@Idempotent
		@PostMapping("/fails-http-entity")
		Mono<HttpEntity<Mono<Object>>> failsHttpEntity(@RequestHeader(KEY) String key) {
			return Mono.fromCallable(() -> {
				return new HttpEntity<>(failing(key));

			});
		}

		@Idempotent
		@PostMapping("/fails-one-flow-body")
		Mono<ResponseEntity<Flow.Publisher<Object>>> failsOneFlowBody(@RequestHeader(KEY) String key) {
			return Mono.just(ResponseEntity.ok(JdkFlowAdapter.publisherToFlowPublisher(failing(key))));
		}

		@Idempotent
		@PostMapping("/body-fails-the-second-time")
		Mono<ResponseEntity<Mono<Object>>> bodyFailsTheSecondTime(@RequestHeader(KEY) String key) {
			return Mono.just(ResponseEntity.ok(failsTheSecondTime(key)));
		}

		@Idempotent
		@PostMapping("/fails-the-second-time")
		Mono<Object> failsTheSecondTime(@RequestHeader(KEY) String key) {
			return Mono.defer(() -> (runs("limited " + key) == 0) ? work(key)
					: Mono.error(new IllegalStateException("It fails in run " + run("limited " + key))));
		}

		@Idempotent
		@PostMapping("/succeeds-the-second-time")
		Mono<Object> succeedsTheSecondTime(@RequestHeader(KEY) String key) {
			return Mono
				.defer(() -> (runs("limited " + key) == 0) ? work(key) : Mono.just("run " + run("limited " + key)));
		}

		@Idempotent(lease = "1s", onAbandoned = AbandonedMode.REJECT)
		@PostMapping("/rejected-when-abandoned")
		Mono<Object> rejectedWhenAbandoned(@RequestHeader(KEY) String key) {
			return work(key);
		}

	}

}
