package io.idempotency.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import com.sun.net.httpserver.HttpServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.http.HttpMethod;
import org.springframework.http.HttpRequest;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.client.ClientHttpResponse;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.mock.http.client.MockClientHttpRequest;
import org.springframework.mock.http.client.MockClientHttpResponse;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class IdempotentCallInterceptorTests {

	private static final byte[] BODY = { 1, 2, 3 };

	private final TestTiming timing = new TestTiming();

	private final Deque<Object> script = new ArrayDeque<>();

	private final List<@Nullable String> keys = new ArrayList<>();

	private final List<byte[]> bodies = new ArrayList<>();

	private HttpRequest request = new MockClientHttpRequest(HttpMethod.POST, URI.create("http://a/pay"));

	@AfterEach
	void forgetInterrupts() {
		Thread.interrupted();
	}

	/**
	 * Sends the request; each attempt takes the next of these: an answer, or a failure.
	 */
	private ClientHttpResponse send(Object... attempts) throws IOException {
		return send(IdempotentCalls.DEFAULTS, attempts);
	}

	private ClientHttpResponse send(IdempotentCalls calls, Object... attempts) throws IOException {
		this.script.addAll(Arrays.asList(attempts));
		return new IdempotentCallInterceptor(calls, this.timing).intercept(this.request, BODY, this::execute);
	}

	private ClientHttpResponse execute(HttpRequest sent, byte[] body) throws IOException {
		this.keys.add(sent.getHeaders().getFirst("Idempotency-Key"));
		this.bodies.add(body);
		Object next = this.script.remove();
		if (next instanceof IOException failure) {
			throw failure;
		}
		if (next instanceof RuntimeException failure) {
			throw failure;
		}
		return (ClientHttpResponse) next;
	}

	private static Answer answer(int status) {
		return new Answer("", status);
	}

	private static Answer answer(int status, String retryAfter) {
		Answer answer = new Answer("", status);
		answer.getHeaders().set("Retry-After", retryAfter);
		return answer;
	}

	@Test
	void callIsSentWithOneKeyAndTheSameBytesUntilItHasAnAnswer() throws IOException {
		assertThat(
				send(new IOException("reset"), answer(503), new SocketTimeoutException(), answer(201)).getStatusCode()
					.value())
			.isEqualTo(201);
		assertThat(this.keys).hasSize(4).doesNotContainNull();
		assertThat(this.keys.stream().distinct()).hasSize(1);
		assertThat(this.bodies).hasSize(4).allSatisfy((body) -> assertThat(body).isEqualTo(BODY));
		assertThat(this.timing.pauses).extracting(Duration::toMillis).containsExactly(200L, 400L, 800L);
	}

	/**
	 * HttpURLConnection drops its body, because it cannot send its stream again. So the
	 * caller gets the status, and not the code.
	 */
	@Test
	void rejectionOfACallerWhoseBodyIsHiddenIsNotRepeated() throws IOException {
		AtomicInteger requests = new AtomicInteger();
		HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		server.createContext("/", (exchange) -> {
			requests.incrementAndGet();
			exchange.getRequestBody().readAllBytes();
			byte[] problem = "{\"code\":\"caller-unknown\",\"retry\":\"fix-request\"}".getBytes(StandardCharsets.UTF_8);
			exchange.getResponseHeaders().set("Content-Type", "application/problem+json");
			exchange.sendResponseHeaders(401, problem.length);
			exchange.getResponseBody().write(problem);
			exchange.close();
		});
		server.start();
		try {
			RestClient client = RestClient.builder()
				.requestFactory(new SimpleClientHttpRequestFactory())
				.requestInterceptor(new IdempotentCallInterceptor(IdempotentCalls.DEFAULTS, this.timing))
				.build();
			RestClient.RequestHeadersSpec<?> call = client.post()
				.uri("http://127.0.0.1:" + server.getAddress().getPort() + "/pay")
				.body(BODY);
			assertThatExceptionOfType(HttpClientErrorException.Unauthorized.class)
				.isThrownBy(() -> call.retrieve().toBodilessEntity());
		}
		finally {
			server.stop(0);
		}
		assertThat(requests).hasValue(1);
	}

	private static Answer problem(int status, String retry) {
		Answer answer = new Answer("{\"code\":\"a-code\",\"retry\":\"" + retry + "\",\"detail\":\"Why\"}", status);
		answer.getHeaders().set("Content-Type", "application/problem+json");
		return answer;
	}

	@Test
	void rejectionThatAllowsTheSameKeyIsRepeated() throws IOException {
		assertThat(send(problem(409, "same-key"), answer(201)).getStatusCode().value()).isEqualTo(201);
		assertThat(this.keys.stream().distinct()).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "never", "new-key", "fix-request" })
	void otherRejectionIsThrownAndNotRepeated(String retry) {
		Answer rejected = problem(503, retry);
		rejected.getHeaders().set("Retry-After", "7");
		assertThatExceptionOfType(RejectedCallException.class).isThrownBy(() -> send(rejected, answer(201)))
			.satisfies((ex) -> {
				assertThat(ex.code()).isEqualTo("a-code");
				assertThat(ex.retry()).isEqualTo(retry);
				assertThat(ex.status()).isEqualTo(503);
				assertThat(ex.detail()).isEqualTo("Why");
				assertThat(ex.retryAfter()).isEqualTo(Duration.ofSeconds(7));
				assertThat(ex).hasMessageContaining("503 'a-code'").hasMessageNotContaining("Why");
			});
		assertThat(this.keys).hasSize(1);
		assertThat(rejected.closed).isTrue();
	}

	@Test
	void rejectionIsThrownWhenTheBoundsAreReached() {
		IdempotentCalls twice = IdempotentCalls.DEFAULTS.change().maxAttempts(2).build();
		assertThatExceptionOfType(RejectedCallException.class)
			.isThrownBy(() -> send(twice, problem(409, "same-key"), problem(409, "same-key")))
			.satisfies((ex) -> assertThat(ex.retry()).isEqualTo("same-key"));
	}

	@Test
	void problemThatSaysNothingAboutRetriesIsTheCallers() throws IOException {
		Answer problem = problem(422, "as you like");
		try (ClientHttpResponse answer = send(problem)) {
			assertThat(answer.getBody()).asString(StandardCharsets.UTF_8).contains("as you like");
		}
	}

	@Test
	void problemThatIsPackedOrTooLargeIsTheCallers() throws IOException {
		Answer packed = problem(409, "never");
		packed.getHeaders().set("Content-Encoding", "gzip");
		assertThat(send(packed).getStatusCode().value()).isEqualTo(409);
		IdempotentCalls small = IdempotentCalls.DEFAULTS.change().maxBodySize(10).build();
		try (ClientHttpResponse answer = send(small, problem(409, "never"))) {
			assertThat(answer.getBody()).asString(StandardCharsets.UTF_8).endsWith("\"Why\"}");
		}
		assertThat(send(small.change().maxBodySize(0).build(), problem(409, "never")).getStatusCode().value())
			.isEqualTo(409);
	}

	@Test
	void callsHaveDifferentKeys() throws IOException {
		send(answer(200));
		this.request = new MockClientHttpRequest(HttpMethod.POST, URI.create("http://a/pay"));
		send(answer(200));
		assertThat(this.keys.stream().distinct()).hasSize(2);
	}

	@Test
	void keyOfTheCallerIsKept() throws IOException {
		this.request.getHeaders().set("idempotency-key", "mine");
		send(new IOException("reset"), answer(200));
		assertThat(this.keys).containsExactly("mine", "mine");
		assertThat(this.request.getHeaders().get("Idempotency-Key")).containsExactly("mine");
	}

	@Test
	void keyOfTheIntentIsSent() throws IOException {
		IdempotencyKeys.with("order-42", () -> send(new IOException("reset"), answer(200)));
		assertThat(this.keys).containsExactly("order-42", "order-42");
	}

	@ParameterizedTest
	@ValueSource(strings = { "GET", "HEAD", "PUT", "DELETE" })
	void callWithoutAKeyIsSentOnce(String method) throws IOException {
		this.request = new MockClientHttpRequest(HttpMethod.valueOf(method), URI.create("http://a/pay"));
		assertThat(send(answer(503)).getStatusCode().value()).isEqualTo(503);
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> send(new IOException("reset")));
		assertThat(this.keys).hasSize(2).containsOnlyNulls();
	}

	@Test
	void callOfAnotherMethodTakesPartWithAKeyOfTheCaller() throws IOException {
		this.request = new MockClientHttpRequest(HttpMethod.DELETE, URI.create("http://a/pay"));
		this.request.getHeaders().set("Idempotency-Key", "mine");
		assertThat(send(answer(503), answer(204)).getStatusCode().value()).isEqualTo(204);
	}

	@Test
	void otherHeaderCarriesTheKeyWhereItIsSet() throws IOException {
		send(IdempotentCalls.DEFAULTS.change().header("X-Request-Id").build(), answer(200));
		assertThat(this.request.getHeaders().getFirst("X-Request-Id")).hasSize(36);
		assertThat(this.keys).containsOnlyNulls();
	}

	@Test
	void answersThatAreRepeatedAreClosed() throws IOException {
		Answer busy = answer(409, "1");
		Answer last = answer(422, "1");
		assertThat(send(busy, last)).isSameAs(last);
		assertThat(busy.closed).isTrue();
		assertThat(last.closed).isFalse();
	}

	@Test
	void lastAnswerIsTheCallersWhenTheBoundsAreReached() throws IOException {
		Answer last = answer(503);
		IdempotentCalls twice = IdempotentCalls.DEFAULTS.change().maxAttempts(2).build();
		assertThat(send(twice, answer(503), last)).isSameAs(last);
		assertThat(last.closed).isFalse();
	}

	@Test
	void lastFailureIsTheCallersWhenTheBoundsAreReached() {
		IOException last = new IOException("reset again");
		IdempotentCalls twice = IdempotentCalls.DEFAULTS.change().maxAttempts(2).build();
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> send(twice, new IOException("reset"), last))
			.isSameAs(last);
	}

	@Test
	void otherExceptionsAreNotRepeated() {
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> send(new IllegalStateException("bug")))
			.withMessage("bug");
		assertThat(this.keys).hasSize(1);
	}

	@Test
	void answerThatBreaksOffIsAskedForAgain() throws IOException {
		Answer broken = new Answer("{\"id\"", 201);
		broken.getHeaders().setContentLength(20);
		Answer whole = new Answer("{\"id\":1}", 201);
		whole.getHeaders().setContentLength(8);
		ClientHttpResponse answer = send(broken, whole);
		assertThat(broken.closed).isTrue();
		assertThat(new String(answer.getBody().readAllBytes(), StandardCharsets.UTF_8)).isEqualTo("{\"id\":1}");
		assertThat(answer.getStatusText()).isEqualTo(whole.getStatusText());
		answer.close();
		assertThat(whole.closed).isTrue();
	}

	/** As {@code HttpURLConnection} does where the connection is not kept alive. */
	@Test
	void answerThatEndsTooEarlyIsAskedForAgain() throws IOException {
		MockClientHttpResponse tooShort = new MockClientHttpResponse("{\"id\"".getBytes(StandardCharsets.UTF_8), 201);
		tooShort.getHeaders().setContentLength(8);
		assertThat(send(tooShort, answer(200)).getStatusCode().value()).isEqualTo(200);
	}

	@Test
	void packedAnswerIsHandedOnAsItComes() throws IOException {
		Answer packed = new Answer("{\"id\":1}", 201);
		packed.getHeaders().setContentLength(8);
		packed.getHeaders().set("Content-Encoding", "gzip");
		assertThat(send(packed)).isSameAs(packed);
	}

	@Test
	void answerThatIsTooLongOrOfUnknownLengthIsHandedOnAsItComes() throws IOException {
		Answer unknown = new Answer("{\"id\":1}", 201);
		assertThat(send(unknown)).isSameAs(unknown);
		Answer tooLong = new Answer("{\"id\":1}", 201);
		tooLong.getHeaders().setContentLength(8);
		assertThat(send(IdempotentCalls.DEFAULTS.change().maxBodySize(7).build(), tooLong)).isSameAs(tooLong);
	}

	@Test
	void bodyThatWasUnpackedIsWhole() throws IOException {
		Answer unpacked = new Answer("0123456789", 200);
		unpacked.getHeaders().setContentLength(4);
		ClientHttpResponse answer = send(IdempotentCalls.DEFAULTS.change().maxBodySize(6).build(), unpacked);
		assertThat(answer.getBody()).hasContent("0123456789");
	}

	@Test
	void interruptedCallerGetsTheFailureThatWasThere() {
		IOException failure = new IOException("reset");
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> send(failure)).isSameAs(failure);
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		assertThat(this.timing.pauses).isEmpty();
	}

	@Test
	void interruptedCallerGetsTheAnswerThatWasThere() throws IOException {
		Answer busy = answer(503);
		Thread.currentThread().interrupt();
		assertThat(send(busy)).isSameAs(busy);
		assertThat(busy.closed).isFalse();
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
	}

	@Test
	void interruptEndsAPause() {
		Answer busy = new Answer("", 503) {

			@Override
			public void close() {
				super.close();
				Thread.currentThread().interrupt();
			}

		};
		assertThatExceptionOfType(InterruptedIOException.class).isThrownBy(() -> send(busy));
		assertThat(Thread.currentThread().isInterrupted()).isTrue();
		assertThat(this.keys).hasSize(1);
	}

	@Test
	void readThatWasInterruptedIsNotRepeated() {
		InterruptedIOException failure = new InterruptedIOException();
		assertThatExceptionOfType(InterruptedIOException.class).isThrownBy(() -> send(failure)).isSameAs(failure);
	}

	/**
	 * An answer that tells whether it is closed, and breaks off where it is too short.
	 */
	private static class Answer extends MockClientHttpResponse {

		private final int length;

		boolean closed;

		Answer(String body, int status) {
			super(body.getBytes(StandardCharsets.UTF_8), HttpStatusCode.valueOf(status));
			this.length = body.length();
		}

		@Override
		public InputStream getBody() throws IOException {
			InputStream body = super.getBody();
			return (getHeaders().getContentLength() <= this.length) ? body : new InputStream() {

				@Override
				public int read() throws IOException {
					int next = body.read();
					if (next < 0) {
						throw new IOException("Premature EOF");
					}
					return next;
				}

			};
		}

		@Override
		public void close() {
			this.closed = true;
		}

	}

}
