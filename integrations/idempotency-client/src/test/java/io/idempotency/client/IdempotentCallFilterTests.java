package io.idempotency.client;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DefaultDataBufferFactory;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.client.MultipartBodyBuilder;
import org.springframework.mock.http.client.reactive.MockClientHttpRequest;
import org.springframework.web.reactive.function.BodyInserters;
import org.springframework.web.reactive.function.client.ClientRequest;
import org.springframework.web.reactive.function.client.ClientResponse;
import org.springframework.web.reactive.function.client.ExchangeStrategies;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.client.WebClientRequestException;
import org.springframework.web.reactive.function.client.WebClientResponseException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class IdempotentCallFilterTests {

	private static final IdempotentCalls CALLS = IdempotentCalls.DEFAULTS.change()
		.firstDelay(Duration.ofMillis(1))
		.build();

	private final Deque<Object> script = new ArrayDeque<>();

	private final List<@Nullable String> keys = new ArrayList<>();

	private final List<String> bodies = new ArrayList<>();

	private final List<HttpHeaders> sentHeaders = new ArrayList<>();

	private IdempotentCalls calls = CALLS;

	/** Each attempt takes the next of these: an answer, or a failure. */
	private WebClient client(Object... attempts) {
		this.script.addAll(Arrays.asList(attempts));
		return WebClient.builder()
			.baseUrl("http://a")
			.filter(new IdempotentCallFilter(this.calls))
			.exchangeFunction(this::exchange)
			.build();
	}

	private Mono<ClientResponse> exchange(ClientRequest request) {
		MockClientHttpRequest sent = new MockClientHttpRequest(request.method(), request.url());
		Object next = this.script.remove();
		this.keys.add(request.headers().getFirst("Idempotency-Key"));
		if (next instanceof NotConnected) {
			return Mono.error(failure(request));
		}
		Mono<Void> written = request.writeTo(sent, ExchangeStrategies.withDefaults());
		return written.then(Mono.defer(sent::getBodyAsString)).defaultIfEmpty("").flatMap((body) -> {
			this.bodies.add(body);
			this.sentHeaders.add(sent.getHeaders());
			return (next instanceof ClientResponse answer) ? Mono.just(answer) : Mono.error((Throwable) next);
		});
	}

	private static WebClientRequestException failure(ClientRequest request) {
		return new WebClientRequestException(new IOException("rejected"), request.method(), request.url(),
				request.headers());
	}

	private static WebClientRequestException lost() {
		return new WebClientRequestException(new IOException("reset"), HttpMethod.POST, URI.create("http://a/pay"),
				new HttpHeaders());
	}

	private static ClientResponse answer(int status) {
		return ClientResponse.create(HttpStatusCode.valueOf(status)).body("answer " + status).build();
	}

	private static Flux<DataBuffer> buffers(String... texts) {
		return Flux.fromArray(texts)
			.map((text) -> DefaultDataBufferFactory.sharedInstance.wrap(text.getBytes(StandardCharsets.UTF_8)));
	}

	private static @Nullable String post(WebClient client) {
		return client.post().uri("/pay").bodyValue("body").retrieve().bodyToMono(String.class).block();
	}

	@Test
	void callIsSentWithOneKeyAndTheSameBytesUntilItHasAnAnswer() {
		assertThat(post(client(lost(), answer(503), answer(429), answer(201)))).isEqualTo("answer 201");
		assertThat(this.keys).hasSize(4).doesNotContainNull();
		assertThat(this.keys.stream().distinct()).hasSize(1);
		assertThat(this.bodies).containsExactly("body", "body", "body", "body");
		assertThat(this.sentHeaders).allSatisfy(
				(headers) -> assertThat(headers).isEqualTo(this.sentHeaders.get(0)).containsKey("Content-Type"));
	}

	private static ClientResponse problem(int status, String retry) {
		return ClientResponse.create(HttpStatusCode.valueOf(status))
			.header("Content-Type", "application/problem+json")
			.header("Retry-After", "0")
			.body("{\"code\":\"a-code\",\"retry\":\"" + retry + "\"}")
			.build();
	}

	@Test
	void rejectionThatAllowsTheSameKeyIsRepeated() {
		assertThat(post(client(problem(409, "same-key"), problem(503, "same-key"), answer(201))))
			.isEqualTo("answer 201");
		assertThat(this.keys.stream().distinct()).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "never", "new-key", "fix-request" })
	void otherRejectionIsThrownAndNotRepeated(String retry) {
		WebClient client = client(problem(503, retry), answer(201));
		assertThatExceptionOfType(RejectedCallException.class).isThrownBy(() -> post(client)).satisfies((ex) -> {
			assertThat(ex.code()).isEqualTo("a-code");
			assertThat(ex.retry()).isEqualTo(retry);
			assertThat(ex.retryAfter()).isZero();
		});
		assertThat(this.keys).hasSize(1);
	}

	/** Its length is not told. */
	@Test
	void problemThatIsTooLargeGoesByItsStatus() {
		this.calls = CALLS.change().maxBodySize(10).build();
		assertThat(post(client(problem(503, "as you like"), answer(201)))).isEqualTo("answer 201");
		WebClient client = client(problem(422, "never"));
		assertThatExceptionOfType(WebClientResponseException.class).isThrownBy(() -> post(client))
			.satisfies((ex) -> assertThat(ex.getStatusCode().value()).isEqualTo(422));
	}

	@Test
	void problemThatSaysNothingAboutRetriesIsTheCallers() {
		WebClient client = client(problem(422, "as you like"));
		assertThatExceptionOfType(WebClientResponseException.class).isThrownBy(() -> post(client))
			.satisfies((ex) -> assertThat(ex.getResponseBodyAsString()).contains("as you like"));
	}

	@Test
	void valueThatChangesBetweenAttemptsIsSentAsItWas() {
		AtomicInteger value = new AtomicInteger();
		Mono<Map<String, Integer>> body = Mono.fromSupplier(() -> Map.of("value", value.incrementAndGet()));
		String answer = client(lost(), answer(200)).post()
			.uri("/pay")
			.contentType(MediaType.APPLICATION_JSON)
			.body(body, Map.class)
			.retrieve()
			.bodyToMono(String.class)
			.block();
		assertThat(answer).isEqualTo("answer 200");
		assertThat(this.bodies).containsExactly("{\"value\":1}", "{\"value\":1}");
	}

	@Test
	void bodyThatNobodyAskedForIsStillThere() {
		assertThat(post(client(new NotConnected(), new NotConnected(), lost(), answer(200)))).isEqualTo("answer 200");
		assertThat(this.bodies).containsExactly("body", "body");
	}

	@Test
	void callWithoutABodyIsRepeated() {
		String answer = client(lost(), answer(200)).post().uri("/pay").retrieve().bodyToMono(String.class).block();
		assertThat(answer).isEqualTo("answer 200");
		assertThat(this.bodies).containsExactly("", "");
	}

	@Test
	void bodyOfSeveralBuffersIsRepeated() {
		String answer = client(lost(), answer(200)).post()
			.uri("/pay")
			.body(BodyInserters.fromDataBuffers(buffers("bo", "dy")))
			.retrieve()
			.bodyToMono(String.class)
			.block();
		assertThat(answer).isEqualTo("answer 200");
		assertThat(this.bodies).containsExactly("body", "body");
	}

	@Test
	void partsAreRepeatedWithTheirBoundary() {
		MultipartBodyBuilder parts = new MultipartBodyBuilder();
		parts.part("name", "value");
		String answer = client(lost(), answer(200)).post()
			.uri("/pay")
			.contentType(MediaType.MULTIPART_FORM_DATA)
			.body(BodyInserters.fromMultipartData(parts.build()))
			.retrieve()
			.bodyToMono(String.class)
			.block();
		assertThat(answer).isEqualTo("answer 200");
		assertThat(this.bodies).hasSize(2).allSatisfy((body) -> assertThat(body).isEqualTo(this.bodies.get(0)));
		MediaType type = this.sentHeaders.get(1).getContentType();
		assertThat(type).isNotNull().isEqualTo(this.sentHeaders.get(0).getContentType());
		assertThat(this.bodies.get(1)).contains("--" + type.getParameter("boundary"));
	}

	@Test
	void bodyThatIsTooLongIsSentOnce() {
		this.calls = CALLS.change().maxBodySize(3).build();
		assertThatExceptionOfType(WebClientRequestException.class).isThrownBy(() -> post(client(lost())));
		assertThat(this.keys).singleElement().isNotNull();
	}

	@Test
	void streamIsSentOnceAndItsAnswerIsTheCallers() {
		Mono<ClientResponse> call = client(answer(503)).post()
			.uri("/pay")
			.contentType(MediaType.APPLICATION_NDJSON)
			.body(Flux.just(Map.of("line", 1), Map.of("line", 2)), Map.class)
			.exchangeToMono(Mono::just);
		ClientResponse answer = call.block();
		assertThat(answer).isNotNull().extracting((known) -> known.statusCode().value()).isEqualTo(503);
		assertThat(this.keys).singleElement().isNotNull();
	}

	@Test
	void keyOfTheCallerIsKept() {
		String answer = client(lost(), answer(200)).post()
			.uri("/pay")
			.header("idempotency-key", "mine")
			.retrieve()
			.bodyToMono(String.class)
			.block();
		assertThat(answer).isEqualTo("answer 200");
		assertThat(this.keys).containsExactly("mine", "mine");
	}

	@Test
	void keyOfTheIntentIsSent() {
		IdempotencyKeys.with("order-42", () -> post(client(lost(), answer(200))));
		assertThat(this.keys).containsExactly("order-42", "order-42");
	}

	@Test
	void keyInTheContextIsThatOfEachSubscription() {
		Mono<String> call = client(answer(500), lost(), answer(200)).post()
			.uri("/pay")
			.retrieve()
			.bodyToMono(String.class)
			.retry(1)
			.contextWrite(IdempotentCallFilter.key("order-42"));
		assertThat(call.block()).isEqualTo("answer 200");
		assertThat(this.keys).containsExactly("order-42", "order-42", "order-42");
		assertThatIllegalArgumentException().isThrownBy(() -> IdempotentCallFilter.key("a b"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET", "PUT", "DELETE" })
	void callWithoutAKeyIsSentOnce(String method) {
		Mono<String> call = client(lost()).method(HttpMethod.valueOf(method))
			.uri("/pay")
			.retrieve()
			.bodyToMono(String.class);
		assertThatExceptionOfType(WebClientRequestException.class).isThrownBy(call::block);
		assertThat(this.keys).hasSize(1).containsOnlyNulls();
	}

	@ParameterizedTest
	@ValueSource(ints = { 400, 404, 409, 422, 500 })
	void otherAnswersAreTheCallers(int status) {
		HttpStatusCode seen = client(answer(status)).post()
			.uri("/pay")
			.exchangeToMono((answer) -> answer.releaseBody().thenReturn(answer.statusCode()))
			.block();
		assertThat(seen).isEqualTo(HttpStatusCode.valueOf(status));
	}

	@Test
	void lastAnswerAndLastFailureAreTheCallersWhenTheBoundsAreReached() {
		this.calls = CALLS.change().maxAttempts(2).build();
		HttpStatusCode seen = client(lost(), answer(503)).post()
			.uri("/pay")
			.exchangeToMono((answer) -> Mono.just(answer.statusCode()))
			.block();
		assertThat(seen).isEqualTo(HttpStatusCode.valueOf(503));
		WebClientRequestException last = lost();
		assertThatExceptionOfType(WebClientRequestException.class).isThrownBy(() -> post(client(lost(), last)))
			.isSameAs(last);
	}

	@Test
	void otherExceptionsAreNotRepeated() {
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> post(client(new IllegalStateException("bug"))))
			.withMessage("bug");
		assertThat(this.keys).hasSize(1);
	}

	@Test
	void answerThatBreaksOffIsAskedForAgain() {
		ClientResponse broken = ClientResponse.create(HttpStatusCode.valueOf(201))
			.header("Content-Length", "8")
			.body(buffers("{\"id\"").concatWith(Flux.error(new IOException("Premature EOF"))))
			.build();
		ClientResponse whole = ClientResponse.create(HttpStatusCode.valueOf(201))
			.header("Content-Length", "8")
			.header("X-Run", "1")
			.body("{\"id\":1}")
			.build();
		String answer = client(broken, whole).post().uri("/pay").exchangeToMono((held) -> {
			assertThat(held.headers().asHttpHeaders().getFirst("X-Run")).isEqualTo("1");
			return held.bodyToMono(String.class);
		}).block();
		assertThat(answer).isEqualTo("{\"id\":1}");
	}

	@Test
	void answerThatEndsTooEarlyIsAskedForAgain() {
		ClientResponse empty = ClientResponse.create(HttpStatusCode.valueOf(200)).header("Content-Length", "8").build();
		ClientResponse tooShort = ClientResponse.create(HttpStatusCode.valueOf(200))
			.header("Content-Length", "8")
			.body("short")
			.build();
		assertThat(post(client(empty, tooShort, answer(200)))).isEqualTo("answer 200");
	}

	@Test
	void answerOfUnknownLengthIsHandedOnAsItComes() {
		AtomicInteger read = new AtomicInteger();
		ClientResponse answer = ClientResponse.create(HttpStatusCode.valueOf(200))
			.body(buffers("a", "b").doOnNext((buffer) -> read.incrementAndGet()))
			.build();
		String text = client(answer).post().uri("/pay").exchangeToMono((handedOn) -> {
			int before = read.get();
			return handedOn.bodyToMono(String.class).map((body) -> before + body);
		}).block();
		assertThat(text).isEqualTo("0ab");
	}

	@Test
	void cancelledCallIsNotRepeated() {
		this.calls = CALLS.change()
			.firstDelay(Duration.ofDays(1))
			.maxDelay(Duration.ofDays(1))
			.maxTime(Duration.ofDays(9))
			.build();
		WebClient client = client(lost());
		client.post().uri("/pay").retrieve().bodyToMono(String.class).subscribe().dispose();
		assertThat(this.keys).hasSize(1);
		assertThat(this.script).isEmpty();
	}

	/** A server that was never reached. */
	private static final class NotConnected {

	}

}
