package io.idempotency.it.webflux;

import java.io.ByteArrayInputStream;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The WebFlux adapter, on Netty. */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class WebFluxAdapterTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final HttpClient client = HttpClient.newHttpClient();

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	private HttpRequest.Builder request(String path, String body, String type) {
		return HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + path))
			.header("Content-Type", type)
			.timeout(PATIENCE)
			.POST(HttpRequest.BodyPublishers.ofString(body));
	}

	private HttpRequest.Builder keyed(String path, String body) {
		return request(path, body, "application/json").header("Idempotency-Key", this.key);
	}

	private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
		return this.client.send(request.build(), HttpResponse.BodyHandlers.ofString());
	}

	private static String basic(String user) {
		return "Basic " + Base64.getEncoder().encodeToString((user + ":" + user).getBytes(StandardCharsets.UTF_8));
	}

	private static void assertReplayed(HttpResponse<String> first, HttpResponse<String> second) {
		assertThat(second.statusCode()).isEqualTo(first.statusCode());
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.headers().firstValue("Content-Type")).isEqualTo(first.headers().firstValue("Content-Type"));
		assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	private static void assertProblem(HttpResponse<String> answer, int status, String code) {
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
		assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(answer.body()).contains("\"code\":\"" + code + "\"");
	}

	@Test
	void duplicateGetsTheFirstAnswer() throws Exception {
		int before = runs("orders");
		HttpResponse<String> first = send(keyed("/orders", "{\"a\":1,\"b\":2}"));
		HttpResponse<String> second = send(keyed("/orders", "{ \"b\": 2, \"a\": 1 }"));
		assertThat(first.statusCode()).isEqualTo(201);
		assertReplayed(first, second);
		assertThat(second.headers().firstValue("Location")).isEqualTo(first.headers().firstValue("Location"));
		assertThat(second.headers().firstValue("X-Run")).isEqualTo(first.headers().firstValue("X-Run"));
		assertThat(second.headers().firstValue("Cache-Control"))
			.hasValueSatisfying((value) -> assertThat(value).contains("no-store"));
		assertThat(runs("orders")).isEqualTo(before + 1);
	}

	@Test
	void requestWithoutKeyIsRejected() throws Exception {
		HttpResponse<String> answer = send(request("/orders", "{}", "application/json"));
		assertProblem(answer, 400, "key-missing");
		assertThat(answer.body()).contains("POST /orders requires a key in the header 'Idempotency-Key'");
	}

	@ParameterizedTest
	@ValueSource(strings = { "mono", "empty", "nothing", "flux", "future", "number", "void", "entity", "written",
			"slow", "accepted", "publisher", "mono-of-entity-of-flux", "entity-of-foreign-publisher", "future-entity",
			"headers", "resource", "buffers", "problem-later", "view-name", "view-name-later", "rendering",
			"rendering-later", "redirect", "redirect-name", "default-view", "default-view-later", "view", "model",
			"model-attribute" })
	void everyKindOfHandlerRunsOnce(String path) throws Exception {
		int before = runs(path);
		HttpResponse<String> first = send(keyed("/" + path, ""));
		HttpResponse<String> second = send(keyed("/" + path, ""));
		assertThat(first.statusCode()).as(first.body()).isBetween(200, 402);
		assertReplayed(first, second);
		assertThat(second.headers().firstValue("Location")).isEqualTo(first.headers().firstValue("Location"));
		assertThat(second.headers().firstValue("X-Run")).isEqualTo(first.headers().firstValue("X-Run"));
		assertThat(runs(path)).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@CsvSource({ "/of-interface, of-interface", "/exchange/mono, exchange/mono", "/exchange/entity, exchange/entity",
			"/of-generic-class, of-generic-class", "/of-generic-class-by-argument, of-generic-class",
			"/of-class, of-class", "/hidden-of-class, hidden-of-class" })
	void annotationMayBeDeclaredElsewhere(String path, String name) throws Exception {
		int before = runs(name);
		String body = "{\"item\":\"" + this.key + "\"}";
		HttpResponse<String> first = send(keyed(path, body));
		assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
		assertReplayed(first, send(keyed(path, body)));
		assertThat(runs(name)).isEqualTo(before + 1);
	}

	@Test
	void annotationOfTheClassLeavesSafeMethodsAlone() throws Exception {
		HttpResponse<String> first = send(keyed("/of-class", "").GET());
		assertThat(first.statusCode()).isEqualTo(200);
		assertThat(send(keyed("/of-class", "").GET()).body()).isNotEqualTo(first.body());
		assertThat(send(request("/of-class", "", "text/plain").GET()).statusCode()).isEqualTo(200);
		assertProblem(send(request("/of-class", "", "application/json")), 400, "key-missing");
	}

	@Test
	void workOfABrokenViewIsDone() throws Exception {
		int before = runs("broken-view");
		assertThat(send(keyed("/broken-view", "")).statusCode()).isEqualTo(500);
		assertProblem(send(keyed("/broken-view", "")), 409, "result-unavailable");
		assertThat(runs("broken-view")).isEqualTo(before + 1);
	}

	@Test
	void streamPassesThroughAndIsNotRepeated() throws Exception {
		HttpResponse<String> first = send(keyed("/events", ""));
		assertThat(first.body()).contains("data:one").contains("data:two");
		assertProblem(send(keyed("/events", "")), 409, "result-unavailable");
	}

	@Test
	void largeAnswerPassesThroughAndIsNotRepeated() throws Exception {
		int before = runs("large");
		HttpResponse<String> first = send(keyed("/large", ""));
		assertThat(first.body()).hasSize((3 << 20) + Integer.toString(before + 1).length());
		assertProblem(send(keyed("/large", "")), 409, "result-unavailable");
		assertThat(runs("large")).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@CsvSource({ "/rejected, rejected, 409", "/status/409, status-409, 409", "/status/404, status-404, 404",
			"/remembered, remembered, 500" })
	void errorThatIsAResultIsReplayed(String path, String name, int status) throws Exception {
		int before = runs(name);
		HttpResponse<String> first = send(keyed(path, ""));
		HttpResponse<String> second = send(keyed(path, ""));
		assertThat(first.statusCode()).isEqualTo(status);
		assertReplayed(first, second);
		assertThat(runs(name)).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@CsvSource({ "/thrown, thrown, 500", "/status/503, status-503, 503", "/status/429, status-429, 429" })
	void failureFreesTheKey(String path, String name, int status) throws Exception {
		int before = runs(name);
		assertThat(send(keyed(path, "")).statusCode()).isEqualTo(status);
		assertThat(send(keyed(path, "")).statusCode()).isEqualTo(status);
		assertThat(runs(name)).isEqualTo(before + 2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "already" })
	void exceptionThatMeansDoneBeforeIsADuplicate(String path) throws Exception {
		int before = runs(path);
		assertProblem(send(keyed("/" + path, "")), 409, "result-unavailable");
		assertProblem(send(keyed("/" + path, "")), 409, "result-unavailable");
		assertThat(runs(path)).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "by-argument", "by-body" })
	void keyIsInTheBody(String path) throws Exception {
		int before = runs(path);
		String body = "{\"item\":\"" + this.key + "\"}";
		HttpResponse<String> first = send(request("/" + path, body, "application/json"));
		HttpResponse<String> second = send(request("/" + path, body, "application/json"));
		assertThat(first.statusCode()).isEqualTo(200);
		assertReplayed(first, second);
		assertThat(runs(path)).isEqualTo(before + 1);
	}

	@Test
	void plainHandlerRunsOnAThreadOfTheApplication() throws Exception {
		HttpResponse<String> first = send(keyed("/blocking", "{\"item\":\"a\"}"));
		assertThat(first.body()).startsWith("a on worker-");
		assertReplayed(first, send(keyed("/blocking", "{\"item\":\"a\"}")));
	}

	@Test
	void answerToAConditionalRequestIsKept() throws Exception {
		int before = runs("document");
		HttpRequest.Builder conditional = keyed("/document", "").GET().header("If-None-Match", "\"v1\"");
		HttpResponse<String> first = send(conditional);
		HttpResponse<String> second = send(conditional);
		assertThat(first.statusCode()).isEqualTo(304);
		assertReplayed(first, second);
		assertThat(second.headers().firstValue("ETag")).hasValue("\"v1\"");
		assertThat(runs("document")).isEqualTo(before + 1);
	}

	@Test
	void formIsReadByGuardAndHandler() throws Exception {
		String form = "item=" + this.key + "&text=a+b";
		HttpResponse<String> first = send(request("/form", form, "application/x-www-form-urlencoded"));
		assertThat(first.body()).startsWith("a b run");
		assertReplayed(first, send(request("/form", form, "application/x-www-form-urlencoded")));
		assertProblem(send(request("/form", "item=" + this.key + "&text=c", "application/x-www-form-urlencoded")), 422,
				"key-reused");
	}

	@Test
	void bodyOfUnknownLengthOverTheLimitIsRejected() throws Exception {
		int before = runs("orders");
		byte[] body = ("\"" + "x".repeat(1 << 20) + "\"").getBytes(StandardCharsets.UTF_8);
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + "/orders"))
			.header("Content-Type", "application/json")
			.header("Idempotency-Key", this.key)
			.timeout(PATIENCE)
			.POST(HttpRequest.BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body)))
			.build();
		assertProblem(this.client.send(request, HttpResponse.BodyHandlers.ofString()), 413, "body-too-large");
		assertThat(runs("orders")).isEqualTo(before);
	}

	@ParameterizedTest
	@ValueSource(strings = { "valid", "valid-mono" })
	void invalidRequestUsesNoKey(String path) throws Exception {
		assertThat(send(keyed("/" + path, "{\"item\":\"\"}")).statusCode()).isEqualTo(400);
		assertThat(send(keyed("/" + path, "{\"item\":\"a\"}")).statusCode()).isEqualTo(200);
	}

	@Test
	void callerThatMayNotUsesNoKeyAndGetsNoReplay() throws Exception {
		int before = runs("bought");
		assertThat(send(keyed("/bought", "")).statusCode()).isEqualTo(401);
		assertThat(send(keyed("/bought", "").header("Authorization", basic("bob"))).statusCode()).isEqualTo(403);
		HttpResponse<String> first = send(keyed("/bought", "").header("Authorization", basic("ada")));
		assertReplayed(first, send(keyed("/bought", "").header("Authorization", basic("ada"))));
		assertThat(send(keyed("/bought", "").header("Authorization", basic("bob"))).statusCode()).isEqualTo(403);
		assertThat(runs("bought")).isEqualTo(before + 1);
	}

	@Test
	void missingKeyIsNotToldToACallerThatMayNot() throws Exception {
		assertThat(send(request("/bought", "", "application/json").header("Authorization", basic("bob"))).statusCode())
			.isEqualTo(403);
	}

	@Test
	void replaysResponseOfCallInTransactionOfFilter() throws Exception {
		int before = runs("mono");
		HttpResponse<String> inside = send(keyed("/mono", "").header("X-Transaction", "yes"));
		assertThat(inside.statusCode()).isEqualTo(200);
		await().untilAsserted(() -> {
			HttpResponse<String> outside = send(keyed("/mono", ""));
			assertThat(outside.headers().firstValue("Idempotent-Replayed")).hasValue("true");
			assertThat(outside.body()).isEqualTo(inside.body());
		});
		assertThat(runs("mono")).isEqualTo(before + 1);
	}

}
