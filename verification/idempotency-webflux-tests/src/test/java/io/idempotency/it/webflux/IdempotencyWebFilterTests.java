package io.idempotency.it.webflux;

import java.net.http.HttpRequest;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.FailureMode;
import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;

import static io.idempotency.it.webflux.OrdersController.run;
import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Filters of the application before the library's filter, and what others complete. */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@Import({ IdempotencyWebFilterTests.Filters.class, IdempotencyWebFilterTests.Handlers.class, Routes.class })
class IdempotencyWebFilterTests {

	private static final String KEY = "Idempotency-Key";

	private static final Map<String, Sinks.Empty<Void>> ENTERED = new ConcurrentHashMap<>();

	private static final Map<String, Sinks.Empty<Void>> GATES = new ConcurrentHashMap<>();

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	private Client client;

	@BeforeEach
	void connect() {
		this.client = new Client(this.port);
	}

	private Answer post(String path) {
		return this.client.post(path, this.key, "application/json", "{}");
	}

	/** The status 504 would release the key, and 202 would be replayed. */
	@ParameterizedTest
	@CsvSource({ "/filtered/nothing, 504", "/filtered/nothing, 202", "/filtered/text, 504", "/filtered/text, 202" })
	void doesNotTakeTheResponseOfAnotherFilterForThatOfTheWork(String path, int status) {
		Answer first = this.client.post(path, this.key, "application/json", "{}",
				(request) -> request.header("X-Instead", Integer.toString(status)));
		assertThat(first.status()).isEqualTo(status);
		GATES.get(this.key).tryEmitEmpty();
		await().until(() -> runs("filtered " + this.key) == 1);
		Answer second = await().until(() -> post(path), (answer) -> !answer.text().contains("in-progress"));
		assertThat(second.status()).as(second.toString()).isEqualTo(409);
		assertThat(second.text()).contains("result-unavailable");
		assertThat(runs("filtered " + this.key)).isEqualTo(1);
	}

	@Test
	void runsActionsBeforeTheCommitOfAnUnguardedResponse() {
		Answer answer = this.client
			.send(this.client.to("/filtered/action").POST(HttpRequest.BodyPublishers.noBody()).header("X-Other", "1"));
		assertThat(answer.status()).isEqualTo(200);
		assertThat(answer.header("X-Action")).isEqualTo("done");
	}

	@Test
	void completesTheCallWhoseResponseFailsBeforeItsCommit() {
		assertThat(post("/filtered/failing-action").status()).isEqualTo(500);
		Answer second = post("/filtered/failing-action");
		assertThat(second.status()).as(second.toString()).isEqualTo(409);
		assertThat(second.text()).contains("result-unavailable");
		assertThat(runs("failing action " + this.key)).isEqualTo(1);
	}

	/** The first elements may have had their effect. */
	@Test
	void remembersTheFailureOfABodyThatIsInvalidBehindItsFirstElement() {
		for (int i = 0; i < 2; i++) {
			Answer answer = this.client.post("/filtered/elements", this.key, "application/x-ndjson",
					"{\"sku\":\"a\"}\n{\"sku\":\"b\"}\n{\"sku\":\n");
			assertThat(answer.status()).as(answer.toString()).isEqualTo(400);
			assertThat(answer.replayed()).isEqualTo(i == 1);
		}
		assertThat(runs("elements " + this.key)).isEqualTo(1);
	}

	private static Mono<Void> work(String key) {
		return Mono.defer(() -> {
			Sinks.Empty<Void> gate = GATES.computeIfAbsent(key, (id) -> Sinks.empty());
			ENTERED.computeIfAbsent(key, (id) -> Sinks.empty()).tryEmitEmpty();
			return gate.asMono();
		});
	}

	static class Filters {

		/** Sends another response when the work has begun, as a time limit does. */
		@Bean
		WebFilter limits() {
			return (exchange, chain) -> {
				String status = exchange.getRequest().getHeaders().getFirst("X-Instead");
				if (status == null) {
					return chain.filter(exchange);
				}
				String key = String.valueOf(exchange.getRequest().getHeaders().getFirst(KEY));
				Mono<Boolean> limit = ENTERED.computeIfAbsent(key, (id) -> Sinks.empty()).asMono().thenReturn(false);
				return Mono.firstWithSignal(chain.filter(exchange).thenReturn(true), limit).flatMap((done) -> {
					if (done) {
						return Mono.empty();
					}
					exchange.getResponse().setStatusCode(HttpStatusCode.valueOf(Integer.parseInt(status)));
					return exchange.getResponse().setComplete();
				});
			};
		}

	}

	@RestController
	@RequestMapping("/filtered")
	static class Handlers {

		@Idempotent
		@PostMapping("/nothing")
		Mono<Void> nothing(@RequestHeader(KEY) String key) {
			return work(key).doOnSuccess((done) -> run("filtered " + key));
		}

		@Idempotent
		@PostMapping("/text")
		Mono<String> text(@RequestHeader(KEY) String key) {
			return work(key).then(Mono.fromSupplier(() -> "run " + run("filtered " + key)));
		}

		@Idempotent(required = false)
		@PostMapping("/action")
		Mono<Void> action(ServerWebExchange exchange) {
			exchange.getResponse().beforeCommit(() -> {
				exchange.getResponse().getHeaders().set("X-Action", "done");
				return Mono.empty();
			});
			return Mono.empty();
		}

		@Idempotent
		@PostMapping("/failing-action")
		Mono<Void> failingAction(@RequestHeader(KEY) String key, ServerWebExchange exchange) {
			exchange.getResponse().beforeCommit(() -> Mono.error(new IllegalStateException("It fails on purpose")));
			return Mono.fromRunnable(() -> run("failing action " + key));
		}

		@Idempotent(onFailure = FailureMode.REMEMBER, fingerprint = "none")
		@PostMapping(path = "/elements", consumes = MediaType.APPLICATION_NDJSON_VALUE)
		Mono<String> elements(@RequestHeader(KEY) String key, @RequestBody Flux<Map<String, String>> elements) {
			return Mono.fromRunnable(() -> run("elements " + key)).then(elements.then(Mono.just("all")));
		}

	}

}
