package io.idempotency.it.webflux;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.webflux.IdempotentRoutes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Sinks;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Functional routes of WebFlux are guarded as methods of controllers are. */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class RoutesTests {

	private static final String JSON = "application/json";

	private static final String FORM = "application/x-www-form-urlencoded";

	private static final String PARTS = "multipart/form-data; boundary=x";

	private final HttpClient client = HttpClient.newHttpClient();

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	@Autowired
	private IdempotentRoutes routes;

	private HttpRequest.Builder request(String path, String type, String body) {
		return HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + "/routes" + path))
			.header("Content-Type", type)
			.timeout(Duration.ofMinutes(2))
			.POST(HttpRequest.BodyPublishers.ofString(body));
	}

	private HttpResponse<String> send(HttpRequest.Builder request) {
		return sendLater(request).join();
	}

	private CompletableFuture<HttpResponse<String>> sendLater(HttpRequest.Builder request) {
		return this.client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofString());
	}

	private HttpResponse<String> post(String path, String type, String body, Consumer<HttpRequest.Builder> more) {
		HttpRequest.Builder request = request(path, type, body).header("Idempotency-Key", this.key);
		more.accept(request);
		return send(request);
	}

	private HttpResponse<String> post(String path, String type, String body) {
		return post(path, type, body, (request) -> {
		});
	}

	private HttpResponse<String> post(String path) {
		return post(path, JSON, "{}");
	}

	private static int runs(String path) {
		return Routes.runs("/routes" + path);
	}

	private static Map<String, List<String>> headers(HttpResponse<String> answer) {
		Map<String, List<String>> headers = new TreeMap<>(answer.headers().map());
		headers.keySet()
			.removeIf((name) -> List
				.of("idempotent-replayed", "cache-control", "pragma", "expires", "set-cookie", "date", ":status")
				.contains(name.toLowerCase(Locale.ROOT)));
		return headers;
	}

	private static void assertReplay(HttpResponse<String> first, HttpResponse<String> second) {
		assertThat(first.headers().firstValue("Idempotent-Replayed")).as("first %s", first.body()).isEmpty();
		assertThat(second.headers().firstValue("Idempotent-Replayed")).as("second %s", second.body()).hasValue("true");
		assertThat(second.statusCode()).isEqualTo(first.statusCode());
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(headers(second)).isEqualTo(headers(first));
	}

	private static void assertCode(HttpResponse<String> answer, int status, String code) {
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
		assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(answer.body()).contains("\"code\":\"" + code + "\"");
	}

	@Test
	void duplicateGetsTheWholeAnswer() {
		int before = runs("/orders");
		HttpResponse<String> first = post("/orders", JSON, "{\"amount\":7}");
		assertThat(first.statusCode()).as(first.body()).isEqualTo(201);
		assertThat(first.body()).isEqualTo("{\"amount\":7}");
		assertThat(first.headers().firstValue("Location")).hasValue("/routes/orders/7");
		assertThat(first.headers().firstValue("Set-Cookie")).hasValue("order=7");
		assertReplay(first, post("/orders", JSON, "{\"amount\" : 7}"));
		assertThat(runs("/orders") - before).isEqualTo(1);
	}

	@Test
	void otherBodyIsRefused() {
		post("/orders", JSON, "{\"amount\":7}");
		assertCode(post("/orders", JSON, "{\"amount\":8}"), 422, "key-reused");
	}

	@Test
	void keyIsNeededAndMustBeValid() {
		HttpResponse<String> missing = send(request("/orders", JSON, "{}"));
		assertCode(missing, 400, "key-missing");
		assertThat(missing.body()).contains("POST /routes/orders needs a key in the header 'Idempotency-Key'");
		assertCode(send(request("/orders", JSON, "{}").header("Idempotency-Key", "a, b")), 400, "key-invalid");
	}

	@Test
	void safeMethodsOfTheSameRoutesPass() {
		HttpRequest.Builder get = request("/orders", JSON, "").header("Idempotency-Key", this.key).GET();
		String first = send(get).body();
		assertThat(send(get).body()).isNotEqualTo(first);
	}

	@Test
	void duplicateOfARunningRequestIsRefused() {
		CompletableFuture<HttpResponse<String>> first = enter("/gated");
		assertCode(post("/gated"), 409, "in-progress");
		Routes.GATES.get(this.key).tryEmitEmpty();
		assertReplay(first.join(), post("/gated"));
	}

	@Test
	void duplicateWaitsIfItIsToldTo() {
		int before = runs("/waiting");
		CompletableFuture<HttpResponse<String>> first = enter("/waiting");
		CompletableFuture<HttpResponse<String>> second = sendLater(
				request("/waiting", JSON, "{}").header("Idempotency-Key", this.key));
		Routes.GATES.get(this.key).tryEmitEmpty();
		assertReplay(first.join(), second.join());
		assertThat(runs("/waiting") - before).isEqualTo(1);
	}

	/** Sends a request, and returns when its handler has begun. */
	private CompletableFuture<HttpResponse<String>> enter(String path) {
		Routes.GATES.put(this.key, Sinks.empty());
		int before = runs(path);
		CompletableFuture<HttpResponse<String>> first = sendLater(
				request(path, JSON, "{}").header("Idempotency-Key", this.key).header("X-Gate", this.key));
		await().until(() -> runs(path) > before);
		return first;
	}

	@Test
	void workGoesOnWhenTheClientHangsUp() throws Exception {
		Routes.GATES.put(this.key, Sinks.empty());
		int before = runs("/gated");
		try (RawClient raw = new RawClient(this.port)) {
			raw.send("/routes/gated", this.key, "X-Gate: " + this.key + "\r\n", 2, "{}");
			await().until(() -> runs("/gated") > before);
		}
		assertCode(post("/gated"), 409, "in-progress");
		Routes.GATES.get(this.key).tryEmitEmpty();
		HttpResponse<String> repeated = await().until(() -> post("/gated"),
				(answer) -> !answer.body().contains("in-progress"));
		assertThat(repeated.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(runs("/gated") - before).isEqualTo(1);
	}

	@Test
	void keyFromTheBody() {
		String order = "{\"order\":{\"id\":\"" + this.key + "\"}}";
		HttpResponse<String> first = send(request("/body", JSON, order));
		assertReplay(first, send(request("/body", JSON, order)));
		HttpResponse<String> missing = send(request("/body", JSON, "{\"order\":{}}"));
		assertCode(missing, 400, "key-missing");
		assertThat(missing.body()).contains("at '/order/id' of its body");
	}

	@Test
	void keyAndFingerprintFromFunctions() {
		String path = "/function/" + this.key + "?amount=";
		assertReplay(send(request(path + "1", JSON, "{}")), send(request(path + "1&other=2", JSON, "[]")));
		assertCode(send(request(path + "2", JSON, "{}")), 422, "key-reused");
	}

	@Test
	void keyThatIsNotNeeded() {
		String first = send(request("/optional", JSON, "{}")).body();
		assertThat(send(request("/optional", JSON, "{}")).body()).isNotEqualTo(first);
		assertReplay(post("/optional"), post("/optional"));
	}

	@Test
	void handlerWithoutAnAnswerGivesTheOneOfSpring() {
		HttpResponse<String> unguarded = send(request("/empty", JSON, ""));
		assertThat(unguarded.statusCode()).as(unguarded.body()).isEqualTo(200);
		HttpResponse<String> first = post("/empty", JSON, "");
		assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
		assertReplay(first, post("/empty", JSON, ""));
	}

	@Test
	void conditionThatDoesNotHoldRunsUnguarded() {
		assertThat(post("/condition").body()).isNotEqualTo(post("/condition").body());
		assertReplay(post("/condition?express"), post("/condition?express"));
	}

	@Test
	void scopeFromAFunction() {
		HttpResponse<String> one = post("/scope", JSON, "{}", (request) -> request.header("X-Tenant", "one"));
		HttpResponse<String> two = post("/scope", JSON, "{}", (request) -> request.header("X-Tenant", "two"));
		assertThat(two.body()).isNotEqualTo(one.body());
		assertReplay(one, post("/scope", JSON, "{}", (request) -> request.header("X-Tenant", "one")));
		assertCode(post("/scope"), 400, "key-invalid");
	}

	@Test
	void onlyIssuedTokens() {
		assertCode(post("/token"), 400, "token-unknown");
	}

	@Test
	void rejectModeRefusesEveryLaterRequest() {
		assertThat(post("/reject").statusCode()).isEqualTo(200);
		assertCode(post("/reject"), 409, "duplicate");
	}

	@Test
	void lockModeLetsTheNextRequestRun() {
		String first = post("/lock").body();
		assertThat(post("/lock").body()).isNotEqualTo(first);
		assertThat(post("/lock-echo", "text/plain", "body that nobody has read before").body())
			.isEqualTo("body that nobody has read before");
	}

	@ParameterizedTest
	@CsvSource({ "/throws, 500, 2", "/fails, 500, 2", "/body-fails, 500, 2", "/fails-with-status, 404, 1",
			"/remembered, 500, 1", "/answers/200, 200, 1", "/answers/303, 303, 1", "/answers/400, 400, 1",
			"/answers/422, 422, 1", "/answers/500, 500, 2", "/answers/503, 503, 2" })
	void failuresAndStatusesDecideWhetherAnAnswerIsKept(String path, int status, int expected) {
		int before = runs(path);
		assertThat(post(path).statusCode()).isEqualTo(status);
		assertThat(post(path).statusCode()).isEqualTo(status);
		assertThat(runs(path) - before).isEqualTo(expected);
	}

	@Test
	void answerThatCannotBeWrittenAfterTheWorkRunsNothingAgain() {
		int before = runs("/not-writable");
		assertThat(post("/not-writable").statusCode()).isEqualTo(500);
		assertCode(post("/not-writable"), 409, "result-unavailable");
		assertThat(runs("/not-writable") - before).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/already", "/already-in-body" })
	void exceptionThatMeansAlreadyDone(String path) {
		int before = runs(path);
		assertCode(post(path), 409, "result-unavailable");
		assertCode(post(path), 409, "result-unavailable");
		assertThat(runs(path) - before).isEqualTo(1);
	}

	@Test
	void callersNeverMeet() {
		HttpResponse<String> ada = post("/orders", JSON, "{\"amount\":1}", as("ada"));
		HttpResponse<String> bob = post("/orders", JSON, "{\"amount\":2}", as("bob"));
		assertThat(bob.statusCode()).isEqualTo(201);
		assertReplay(ada, post("/orders", JSON, "{\"amount\":1}", as("ada")));
	}

	private static Consumer<HttpRequest.Builder> as(String user) {
		String credentials = Base64.getEncoder().encodeToString((user + ":" + user).getBytes(StandardCharsets.UTF_8));
		return (request) -> request.header("Authorization", "Basic " + credentials);
	}

	@Test
	void usersOfAFilterOutsideNeverMeet() {
		HttpResponse<String> ada = post("/wrapped-user", JSON, "{}", (request) -> request.header("X-User", "ada"));
		assertThat(ada.body()).startsWith("ada {}");
		HttpResponse<String> bob = post("/wrapped-user", JSON, "{}", (request) -> request.header("X-User", "bob"));
		assertThat(bob.body()).startsWith("bob {}");
		assertReplay(ada, post("/wrapped-user", JSON, "{}", (request) -> request.header("X-User", "ada")));
		assertThat(post("/wrapped-user").body()).startsWith("nobody {}");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/wrapped-decrypted", "/wrapped-twice" })
	void bodyThatAWrapperOutsideMakesIsRefused(String path) {
		int before = runs(path);
		assertThat(post(path).statusCode()).isEqualTo(500);
		assertThat(runs(path)).isEqualTo(before);
	}

	@Test
	void bodyThatAFilterOutsideHasBuiltIsCompared() {
		HttpResponse<String> first = post("/wrapped-built", JSON, "{}");
		assertThat(first.body()).contains(" another body ");
		assertReplay(first, post("/wrapped-built", JSON, "{\"a\":1}"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/mono", "/flux", "/inserted", "/nothing" })
	void everyKindOfBodyRunsOnce(String path) {
		int before = runs(path);
		HttpResponse<String> first = post(path);
		assertThat(first.statusCode()).as(first.body()).isBetween(200, 204);
		assertReplay(first, post(path));
		assertThat(runs(path) - before).isEqualTo(1);
	}

	@Test
	void streamIsNotKept() {
		int before = runs("/events");
		HttpResponse<String> first = post("/events");
		assertThat(first.body()).contains("data:last");
		assertCode(post("/events"), 409, "result-unavailable");
		assertThat(runs("/events") - before).isEqualTo(1);
	}

	@Test
	void formIsComparedAndCanBeRead() {
		HttpResponse<String> first = post("/form", FORM, "sku=s&amount=7");
		assertThat(first.body()).startsWith("7/routes/form");
		assertReplay(first, post("/form", FORM, "sku=s&amount=7"));
		assertCode(post("/form", FORM, "sku=s&amount=8"), 422, "key-reused");
	}

	@Test
	void formCanBeBound() {
		HttpResponse<String> first = post("/bound", FORM, "amount=7");
		assertThat(first.body()).startsWith("7/routes/bound");
		assertReplay(first, post("/bound", FORM, "amount=7"));
	}

	@Test
	void partsAreComparedAndCanBeRead() {
		String parts = "--x\r\nContent-Disposition: form-data; name=\"amount\"\r\n\r\n7\r\n--x--\r\n";
		HttpResponse<String> first = post("/parts", PARTS, parts);
		assertThat(first.body()).startsWith("7/routes/parts");
		assertReplay(first, post("/parts", PARTS, parts));
		assertCode(post("/parts", PARTS, parts.replace("7", "8")), 422, "key-reused");
	}

	@Test
	void filtersInsideBelongToTheHandlerAndFiltersOutsideSeeTheAnswer() {
		int outside = Routes.runs("outside 200");
		HttpResponse<String> first = post("/nested/echo", "text/plain", "hello ");
		assertThat(first.body()).startsWith("hello /routes/nested/echo");
		assertThat(first.headers().firstValue("X-Before")).hasValue("inner");
		assertReplay(first, post("/nested/echo", "text/plain", "hello "));
		assertThat(first.headers().firstValue("X-Outside")).hasValue("later");
		assertThat(Routes.runs("outside 200") - outside).isEqualTo(2);
	}

	@Test
	void guardInsideOfOneThatNeedsNoKeyNeedsItsOwn() {
		assertCode(send(request("/inside-optional", JSON, "{}")), 400, "key-missing");
		assertReplay(post("/inside-optional"), post("/inside-optional"));
	}

	@Test
	void guardInsideOfOneWhoseConditionDoesNotHoldGuards() {
		assertCode(send(request("/inside-condition", JSON, "{}")), 400, "key-missing");
		assertReplay(post("/inside-condition"), post("/inside-condition"));
		assertReplay(post("/inside-condition?express"), post("/inside-condition?express"));
	}

	@Test
	void handlerOfExceptionsInsideMakesTheAnswer() {
		int before = runs("/nested/sold");
		HttpResponse<String> first = post("/nested/sold");
		assertThat(first.statusCode()).isEqualTo(410);
		assertReplay(first, post("/nested/sold"));
		assertThat(runs("/nested/sold") - before).isEqualTo(1);
	}

	@Test
	void handlerOfAllExceptionsOutsideSeesFailuresAndNoRefusals() {
		assertThat(post("/nested/broken").body()).startsWith("outside: java.lang.IllegalStateException");
		post("/nested/echo", "text/plain", "one");
		assertCode(post("/nested/echo", "text/plain", "two"), 422, "key-reused");
	}

	@Test
	void whatAFilterOutsideRefusesUsesNoKey() {
		Consumer<HttpRequest.Builder> barred = (request) -> request.header("X-Barred", "yes");
		assertThat(post("/nested/echo", "text/plain", "one", barred).statusCode()).isEqualTo(403);
		assertThat(post("/nested/echo", "text/plain", "two").statusCode()).isEqualTo(200);
		assertThat(post("/nested/echo", "text/plain", "two", barred).statusCode()).isEqualTo(403);
	}

	@Test
	void wrongDescriptionFailsWhenTheFilterIsMade() {
		assertThatThrownBy(() -> this.routes.filter("wrong", (route) -> route.header("A").body("/a")))
			.isInstanceOf(IdempotencyConfigurationException.class)
			.hasMessageContaining("The route 'wrong': it has more than one of key, header and body");
	}

}
