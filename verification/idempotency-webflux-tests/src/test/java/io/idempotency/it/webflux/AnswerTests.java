package io.idempotency.it.webflux;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpMethod;
import org.springframework.test.web.reactive.server.WebTestClient;

import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Answers that break off, that are made in two steps, or that are another caller's. */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class AnswerTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final HttpClient client = HttpClient.newHttpClient();

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	private HttpRequest.Builder keyed(String path) {
		return HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + path))
			.header("Idempotency-Key", this.key)
			.timeout(PATIENCE)
			.POST(HttpRequest.BodyPublishers.noBody());
	}

	private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
		return this.client.send(request.build(), HttpResponse.BodyHandlers.ofString());
	}

	@Test
	void nothingIsLeftOfAnArrayThatBreaksOff() throws Exception {
		HttpResponse<String> first = send(keyed("/broken-flux"));
		assertThat(first.statusCode()).isEqualTo(409);
		assertThat(first.body()).startsWith("sold: run ");
		assertThat(first.headers().firstValue("Content-Type"))
			.hasValueSatisfying((type) -> assertThat(type).startsWith("text/plain"));
		HttpResponse<String> second = send(keyed("/broken-flux"));
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.headers().firstValue("Content-Type")).isEqualTo(first.headers().firstValue("Content-Type"));
	}

	@Test
	void whatIsDoneBeforeTheCommitIsAPartOfTheAnswer() throws Exception {
		HttpResponse<String> first = send(keyed("/committed"));
		HttpResponse<String> second = send(keyed("/committed"));
		assertThat(first.headers().firstValue("X-Run")).isPresent();
		assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(second.headers().firstValue("X-Run")).isEqualTo(first.headers().firstValue("X-Run"));
	}

	@Test
	void nothingIsWrittenBehindAWholeAnswer() throws Exception {
		HttpResponse<String> first = send(keyed("/written-and-failed"));
		assertThat(first.body()).isEqualTo("answer");
	}

	/** Netty cancels what it writes; other servers tell it that their client is gone. */
	@ParameterizedTest
	@ValueSource(strings = { "large-flux", "large" })
	void answerWhoseServerFailsIsDone(String path) throws Exception {
		int before = runs(path);
		int ended = runs("large-flux ended");
		send(keyed("/" + path).header("X-Broken-Pipe", "yes"));
		HttpResponse<String> repeated = await().until(
				() -> send(keyed("/" + path).header("Content-Type", "application/json")),
				(answer) -> !answer.body().contains("\"in-progress\""));
		assertThat(repeated.body()).contains("result-unavailable");
		assertThat(runs(path)).isEqualTo(before + 1);
		assertThat(runs("large-flux ended")).isEqualTo(path.equals("large") ? ended : ended + 1);
	}

	@Test
	void callerWithTheNameOfTheAnonymousOneIsAnother() throws Exception {
		String basic = "Basic "
				+ Base64.getEncoder().encodeToString("anonymousUser:a".getBytes(StandardCharsets.UTF_8));
		HttpResponse<String> named = send(keyed("/whoami").header("Authorization", basic));
		assertThat(named.statusCode()).isEqualTo(200);
		HttpResponse<String> anonymous = send(keyed("/whoami"));
		assertThat(anonymous.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(anonymous.body()).isNotEqualTo(named.body());
	}

	/** Spring runs the handler of a GET, and Netty sends the head alone. */
	@Test
	void headIsGuardedAndReplayedWhereGetIs() throws Exception {
		int before = runs("document");
		HttpResponse<String> first = send(keyed("/document").method("HEAD", HttpRequest.BodyPublishers.noBody()));
		HttpResponse<String> second = send(keyed("/document").method("HEAD", HttpRequest.BodyPublishers.noBody()));
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(first.body()).isEmpty();
		assertThat(first.headers().firstValue("ETag")).hasValue("\"v1\"");
		assertThat(second.body()).isEmpty();
		assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		for (String header : new String[] { "ETag", "Content-Type", "Content-Length" }) {
			assertThat(second.headers().firstValue(header)).as(header).isEqualTo(first.headers().firstValue(header));
		}
		assertThat(runs("document")).isEqualTo(before + 1);
	}

	@Test
	void replayWithoutContentHasNoLength() throws Exception {
		HttpResponse<String> first = send(keyed("/no-content"));
		HttpResponse<String> second = send(keyed("/no-content"));
		assertThat(second.statusCode()).isEqualTo(204);
		assertThat(second.headers().firstValue("X-Run")).isPresent().isEqualTo(first.headers().firstValue("X-Run"));
		assertThat(first.headers().firstValue("Content-Length")).isEmpty();
		assertThat(second.headers().firstValue("Content-Length")).isEmpty();
	}

	/** Netty leaves the length out, and other servers do not. */
	@ParameterizedTest
	@ValueSource(strings = { "/no-content", "/document" })
	void replayWithoutContentSetsNoLength(String path, @Autowired ApplicationContext application) {
		WebTestClient client = WebTestClient.bindToApplicationContext(application).build();
		for (int i = 0; i < 2; i++) {
			WebTestClient.ResponseSpec answer = client
				.method(path.equals("/document") ? HttpMethod.GET : HttpMethod.POST)
				.uri(path)
				.header("Idempotency-Key", this.key)
				.header("If-None-Match", "\"v1\"")
				.exchange();
			answer.expectStatus().value((status) -> assertThat(status).isIn(204, 304));
			answer.expectHeader().doesNotExist("Content-Length");
			if (i == 1) {
				answer.expectHeader().valueEquals("Idempotent-Replayed", "true");
			}
		}
	}

	/** As in Spring MVC: the work was done, and its answer is nobody's. */
	@Test
	void answerThatIsRejectedAfterTheWorkIsNotKept() throws Exception {
		String ada = "Basic " + Base64.getEncoder().encodeToString("ada:ada".getBytes(StandardCharsets.UTF_8));
		int before = runs("rejected-after");
		assertThat(send(keyed("/rejected-after").header("Authorization", ada)).statusCode()).isEqualTo(403);
		HttpResponse<String> repeated = send(keyed("/rejected-after").header("Authorization", ada));
		assertThat(repeated.body()).contains("result-unavailable");
		assertThat(runs("rejected-after")).isEqualTo(before + 1);
	}

	@Test
	void silentStreamEndsWithItsClient() throws Exception {
		try (RawClient client = new RawClient(this.port)) {
			client.send("/silent", this.key, "", 0, "").awaitAnswer();
		}
		await().until(() -> runs("silent cancelled " + this.key) == 1);
		HttpResponse<String> repeated = await().until(
				() -> send(keyed("/silent").header("Content-Type", "application/json")),
				(answer) -> !answer.body().contains("\"in-progress\""));
		assertThat(repeated.body()).contains("result-unavailable");
	}

	@Test
	void answerOfARetryIsKept() throws Exception {
		HttpResponse<String> first = send(keyed("/retried"));
		assertThat(first.body()).isEqualTo("run 2");
		HttpResponse<String> second = send(keyed("/retried"));
		assertThat(second.body()).isEqualTo("run 2");
		assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	@Test
	void workIsDoneThoughNoAnswerCanBeMadeOfIt() throws Exception {
		int before = runs("unwritable");
		assertThat(send(keyed("/unwritable")).statusCode()).isEqualTo(500);
		HttpResponse<String> second = send(keyed("/unwritable"));
		assertThat(second.body()).contains("result-unavailable");
		assertThat(runs("unwritable")).isEqualTo(before + 1);
	}

	@Test
	void workThatSucceedsIsNotCancelled() throws Exception {
		int before = runs("undone");
		assertThat(send(keyed("/undone-when-cancelled")).statusCode()).isEqualTo(200);
		assertThat(runs("undone")).isEqualTo(before);
	}

}
