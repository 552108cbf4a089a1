package io.idempotency.it.http;

import io.idempotency.it.scenarios.Scenario;
import java.net.http.HttpRequest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.IdempotencyMode;
import io.idempotency.http.IdempotentRoute;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.web.IdempotentRoutes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.web.servlet.function.ServerRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Functional routes of Spring MVC are guarded as methods of controllers are. */
class RoutesOnTomcatTests extends OnTomcat {

	private static final String JSON = "application/json";

	private static final String FORM = "application/x-www-form-urlencoded";

	private static final String PARTS = "multipart/form-data; boundary=x";

	@Autowired
	IdempotentRoutes routes;

	private Answer post(String path) {
		return this.client.post("/routes" + path, this.key);
	}

	private int runs(String path) {
		return this.runs.of("/routes" + path);
	}

	/** The second answer is the first one. */
	private static void assertReplay(Answer first, Answer second) {
		assertThat(first.replayed()).as("first %s", first).isFalse();
		assertThat(second.replayed()).as("second %s", second).isTrue();
		assertThat(second.status()).isEqualTo(first.status());
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.comparableHeaders()).isEqualTo(first.comparableHeaders());
	}

	@Test
	void duplicateGetsTheWholeAnswer() {
		int before = runs("/orders");
		Answer first = this.client.post("/routes/orders", this.key, JSON, "{\"amount\":7}");
		Answer second = this.client.post("/routes/orders", this.key, JSON, "{\"amount\" : 7}");
		assertThat(first.status()).as("first %s", first).isEqualTo(201);
		assertThat(first.text()).contains("\"amount\":7").contains(this.key);
		assertThat(first.header("Location")).endsWith("/routes/orders/7");
		assertThat(first.header("Set-Cookie")).startsWith("order=7");
		assertReplay(first, second);
		assertThat(second.header("Set-Cookie")).isNull();
		assertThat(runs("/orders") - before).isEqualTo(1);
	}

	@Test
	void otherBodyIsRefused() {
		this.client.post("/routes/orders", this.key, JSON, "{\"amount\":7}");
		Answer other = this.client.post("/routes/orders", this.key, JSON, "{\"amount\":8}");
		Scenario.assertCode(other, 422, "key-reused");
		assertThat(other.header("Content-Type")).startsWith("application/problem+json");
	}

	@Test
	void keyIsNeededAndMustBeValid() throws Exception {
		Answer missing = this.client
			.send(this.client.to("/routes/orders").POST(HttpRequest.BodyPublishers.ofString("{}")));
		Scenario.assertCode(missing, 400, "key-missing");
		assertThat(missing.text()).contains("in the header 'Idempotency-Key'").contains("POST /routes/orders");
		assertThat(this.client.raw("/routes/orders", "Idempotency-Key: a, b\r\n")).startsWith("HTTP/1.1 400")
			.contains("\"code\":\"key-invalid\"");
	}

	@Test
	void safeMethodsOfTheSameRoutesPass() {
		HttpRequest.Builder get = this.client.to("/routes/orders").header("Idempotency-Key", this.key);
		Answer first = this.client.send(get);
		assertThat(first.status()).isEqualTo(200);
		assertThat(this.client.send(get).text()).isNotEqualTo(first.text());
		assertThat(this.client.send(this.client.to("/routes/orders")).status()).isEqualTo(200);
	}

	@Test
	void duplicateOfARunningRequestIsRefused() {
		CompletableFuture<Answer> first = enter("/gated");
		Scenario.assertCode(post("/gated"), 409, "in-progress");
		Routes.GATES.get(this.key).countDown();
		Answer answer = first.join();
		assertReplay(answer, post("/gated"));
	}

	@Test
	void duplicateWaitsIfItIsToldTo() {
		int before = runs("/waiting");
		CompletableFuture<Answer> first = enter("/waiting");
		CompletableFuture<Answer> second = CompletableFuture.supplyAsync(() -> post("/waiting"));
		Routes.GATES.get(this.key).countDown();
		assertReplay(first.join(), second.join());
		assertThat(runs("/waiting") - before).isEqualTo(1);
	}

	/** Sends a request, and returns when its handler has begun. */
	private CompletableFuture<Answer> enter(String path) {
		Routes.GATES.put(this.key, new CountDownLatch(1));
		int before = runs(path);
		CompletableFuture<Answer> first = CompletableFuture
			.supplyAsync(() -> this.client.send(this.client.to("/routes" + path)
				.header("Idempotency-Key", this.key)
				.header("X-Gate", this.key)
				.POST(HttpRequest.BodyPublishers.noBody())));
		await().until(() -> runs(path) > before);
		return first;
	}

	@Test
	void keyFromTheBody() {
		String order = "{\"order\":{\"id\":\"" + this.key + "\"}}";
		Answer first = this.client.post("/routes/body", "ignored", JSON, order);
		assertReplay(first, this.client.post("/routes/body", "ignored too", JSON, order));
		Answer missing = this.client.post("/routes/body", "x", JSON, "{\"order\":{}}");
		Scenario.assertCode(missing, 400, "key-missing");
		assertThat(missing.text()).contains("at '/order/id' of its body");
		Scenario.assertCode(this.client.post("/routes/body", "x", JSON, "{\"order\":{\"id\":[1]}}"), 400,
				"key-invalid");
		Answer field = this.client.post("/routes/field", "x", FORM, "id=" + this.key);
		assertReplay(field, this.client.post("/routes/field", "y", FORM, "id=" + this.key));
	}

	@Test
	void keyFromAnotherHeader() {
		HttpRequest.Builder request = this.client.to("/routes/header")
			.header("X-Request-Id", this.key)
			.POST(HttpRequest.BodyPublishers.noBody());
		assertReplay(this.client.send(request), this.client.send(request));
		Scenario.assertCode(post("/header"), 400, "key-missing");
	}

	@Test
	void keyAndFingerprintFromFunctions() {
		String path = "/routes/function/" + this.key + "?amount=";
		Answer first = this.client.post(path + "1", "x");
		assertReplay(first, this.client.post(path + "1&other=2", "y"));
		Scenario.assertCode(this.client.post(path + "2", "x"), 422, "key-reused");
	}

	@Test
	void keyThatIsNotNeeded() {
		HttpRequest.Builder without = this.client.to("/routes/optional").POST(HttpRequest.BodyPublishers.noBody());
		String first = this.client.send(without).text();
		assertThat(this.client.send(without).text()).isNotEqualTo(first);
		assertReplay(post("/optional"), post("/optional"));
	}

	@Test
	void conditionThatDoesNotHoldRunsUnguarded() {
		assertThat(post("/condition").text()).isNotEqualTo(post("/condition").text());
		assertReplay(post("/condition?express"), post("/condition?express"));
	}

	@Test
	void scopeFromAFunction() {
		Answer one = this.client.post("/routes/scope", this.key, JSON, "{}", tenant("one"));
		Answer two = this.client.post("/routes/scope", this.key, JSON, "{}", tenant("two"));
		assertThat(two.text()).isNotEqualTo(one.text());
		assertReplay(one, this.client.post("/routes/scope", this.key, JSON, "{}", tenant("one")));
		Scenario.assertCode(post("/scope"), 400, "key-invalid");
	}

	private static Consumer<HttpRequest.Builder> tenant(String name) {
		return (request) -> request.header("X-Tenant", name);
	}

	@Test
	void onlyIssuedTokens() {
		Scenario.assertCode(post("/token"), 400, "token-unknown");
	}

	@Test
	void bodyThatIsNotCompared() {
		Answer first = this.client.post("/routes/not-compared", this.key, JSON, "{\"a\":1}");
		assertReplay(first, this.client.post("/routes/not-compared", this.key, JSON, "{\"a\":2}"));
	}

	@Test
	void rejectModeRefusesEveryLaterRequest() {
		assertThat(post("/reject").status()).isEqualTo(200);
		Scenario.assertCode(post("/reject"), 409, "duplicate");
	}

	@Test
	void lockModeLetsTheNextRequestRun() {
		Answer first = post("/lock");
		Answer second = post("/lock");
		assertThat(second.status()).isEqualTo(200);
		assertThat(second.text()).isNotEqualTo(first.text());
	}

	@Test
	void answerThatIsNotKept() {
		assertThat(post("/not-kept").status()).isEqualTo(200);
		Scenario.assertCode(post("/not-kept"), 409, "result-unavailable");
	}

	@Test
	void exceptionFreesTheKey() {
		int before = runs("/throws");
		assertThat(post("/throws").status()).isEqualTo(500);
		assertThat(post("/throws").status()).isEqualTo(500);
		assertThat(runs("/throws") - before).isEqualTo(2);
	}

	@Test
	void exceptionWithAStatusOfAClientIsAnAnswer() {
		int before = runs("/throws-status");
		Answer first = post("/throws-status");
		Answer second = post("/throws-status");
		assertThat(first.status()).isEqualTo(404);
		assertThat(second.status()).isEqualTo(404);
		assertThat(second.replayed()).isTrue();
		assertThat(runs("/throws-status") - before).isEqualTo(1);
	}

	@Test
	void failureThatIsRemembered() {
		int before = runs("/remembered");
		assertThat(post("/remembered").status()).isEqualTo(500);
		Answer second = post("/remembered");
		assertThat(second.status()).isEqualTo(500);
		assertThat(second.replayed()).isTrue();
		assertThat(runs("/remembered") - before).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "200, 1", "303, 1", "400, 1", "409, 1", "422, 1", "500, 2", "503, 2" })
	void statusDecidesWhetherAnAnswerIsKept(int status, int expected) {
		String path = "/answers/" + status;
		int before = runs(path);
		assertThat(post(path).status()).isEqualTo(status);
		assertThat(post(path).status()).isEqualTo(status);
		assertThat(runs(path) - before).isEqualTo(expected);
	}

	@Test
	void exceptionThatMeansAlreadyDone() {
		int before = runs("/already");
		Scenario.assertCode(post("/already"), 409, "result-unavailable");
		Scenario.assertCode(post("/already"), 409, "result-unavailable");
		assertThat(runs("/already") - before).isEqualTo(1);
	}

	@Test
	void callersNeverMeet() {
		Answer alice = this.client.post("/routes/orders", this.key, JSON, "{\"amount\":1}", Client.as("alice"));
		Answer bob = this.client.post("/routes/orders", this.key, JSON, "{\"amount\":2}", Client.as("bob"));
		assertThat(bob.status()).isEqualTo(201);
		assertReplay(alice, this.client.post("/routes/orders", this.key, JSON, "{\"amount\":1}", Client.as("alice")));
	}

	@Test
	void usersOfAFilterOutsideNeverMeet() {
		Answer ada = this.client.post("/routes/identified", this.key, JSON, "{}", user("ada"));
		Answer bob = this.client.post("/routes/identified", this.key, JSON, "{}", user("bob"));
		assertThat(bob.replayed()).isFalse();
		assertThat(bob.text()).isNotEqualTo(ada.text());
		assertReplay(ada, this.client.post("/routes/identified", this.key, JSON, "{}", user("ada")));
	}

	private static Consumer<HttpRequest.Builder> user(String name) {
		return (request) -> request.header("X-User", name);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/events", "/flux", "/async-events", "/ready-events" })
	void streamIsNotKept(String path) {
		int before = runs(path);
		Answer first = post(path);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(first.body()).isNotEmpty();
		await().untilAsserted(() -> Scenario.assertCode(post(path), 409, "result-unavailable"));
		assertThat(runs(path) - before).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/mono", "/future", "/async" })
	void answerOfLaterIsKept(String path) {
		Answer first = post(path);
		assertThat(first.text()).as("first %s", first).contains("in run");
		assertReplay(first, post(path));
	}

	@Test
	void laterFailureFreesTheKey() {
		int before = runs("/async-failing");
		assertThat(post("/async-failing").status()).isEqualTo(500);
		assertThat(post("/async-failing").status()).isEqualTo(500);
		assertThat(runs("/async-failing") - before).isEqualTo(2);
	}

	@Test
	void formIsComparedAndCanBeRead() {
		Answer first = this.client.post("/routes/form", this.key, FORM, "sku=s&amount=7");
		assertThat(first.text()).startsWith("7 for s");
		assertReplay(first, this.client.post("/routes/form", this.key, FORM, "sku=s&amount=7"));
		Scenario.assertCode(this.client.post("/routes/form", this.key, FORM, "sku=s&amount=8"), 422, "key-reused");
		Answer body = this.client.post("/routes/form-body", this.key, FORM, "sku=s");
		assertThat(body.text()).startsWith("sku=s");
		assertReplay(body, this.client.post("/routes/form-body", this.key, FORM, "sku=s"));
	}

	@Test
	void partsAreComparedAndCanBeRead() {
		String parts = "--x\r\nContent-Disposition: form-data; name=\"amount\"\r\n\r\n7\r\n--x--";
		Answer first = this.client.post("/routes/parts", this.key, PARTS, parts);
		assertThat(first.text()).startsWith("7");
		assertReplay(first, this.client.post("/routes/parts", this.key, PARTS, parts));
		Scenario.assertCode(this.client.post("/routes/parts", this.key, PARTS, parts.replace("7", "8")), 422,
				"key-reused");
	}

	@Test
	void filtersInsideBelongToTheHandler() {
		Answer first = this.client.post("/routes/nested/echo", this.key, "text/plain", "hello ");
		assertThat(first.text()).startsWith("hello /routes/nested/echo");
		assertThat(first.header("X-Before")).isEqualTo("inner");
		int after = this.runs.of("after");
		assertReplay(first, this.client.post("/routes/nested/echo", this.key, "text/plain", "hello "));
		assertThat(this.runs.of("after")).isEqualTo(after);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/inside-optional", "/inside-condition" })
	void guardInsideOfOneThatLetsTheRequestPassGuards(String path) {
		Scenario.assertCode(
				this.client.send(this.client.to("/routes" + path).POST(HttpRequest.BodyPublishers.ofString("{}"))), 400,
				"key-missing");
		assertReplay(post(path), post(path));
	}

	@Test
	void handlerOfExceptionsInsideMakesTheAnswer() {
		int before = runs("/nested/sold");
		Answer first = post("/nested/sold");
		assertThat(first.status()).isEqualTo(410);
		assertReplay(first, post("/nested/sold"));
		assertThat(runs("/nested/sold") - before).isEqualTo(1);
	}

	@Test
	void handlerOfAllExceptionsOutsideSeesFailuresAndNoRefusals() {
		assertThat(post("/nested/broken").text()).startsWith("outside: java.lang.IllegalStateException");
		this.client.post("/routes/nested/echo", this.key, "text/plain", "one");
		Scenario.assertCode(this.client.post("/routes/nested/echo", this.key, "text/plain", "two"), 422, "key-reused");
	}

	@Test
	void whatAFilterOutsideRefusesUsesNoKey() {
		String path = "/routes/nested/echo";
		Consumer<HttpRequest.Builder> barred = (request) -> request.header("X-Barred", "yes");
		assertThat(this.client.post(path, this.key, "text/plain", "one", barred).status()).isEqualTo(403);
		assertThat(this.client.post(path, this.key, "text/plain", "two").status()).isEqualTo(200);
		assertThat(this.client.post(path, this.key, "text/plain", "two", barred).status()).isEqualTo(403);
	}

	@Test
	void bodyThatAFilterOutsideHasReadIsCompared() {
		Answer first = this.client.post("/routes/read", this.key, "text/plain", this.key + " one");
		assertThat(this.runs.of("read " + this.key + " one")).isEqualTo(1);
		assertReplay(first, this.client.post("/routes/read", this.key, "text/plain", this.key + " one"));
		Scenario.assertCode(this.client.post("/routes/read", this.key, "text/plain", "two"), 422, "key-reused");
	}

	@Test
	void routeWithoutAGuardRunsEachTime() {
		assertThat(this.client.post("/routes/unguarded", this.key, "text/plain", "one").text()).isEqualTo("one");
		assertThat(this.client.post("/routes/unguarded", this.key, "text/plain", "two").text()).isEqualTo("two");
	}

	@Test
	void wrongDescriptionsFailWhenTheFilterIsMade() {
		assertRefused((route) -> route.header("a b"), "its header 'a b' is no header name");
		assertRefused((route) -> route.body("/a~2"), "is no JSON Pointer");
		assertRefused((route) -> route.header("A").body("/a"), "more than one of key, header and body");
		assertRefused((route) -> route.mode(IdempotencyMode.REJECT).fingerprint((request) -> 1), "compares nothing");
		assertRefused((route) -> route.retention(Duration.ZERO), "The route 'wrong'");
		assertRefused((route) -> route.store("nowhere"), "'nowhere' is no bean of type IdempotencyStore");
		assertThatThrownBy(() -> this.routes.filter(" ")).isInstanceOf(IdempotencyConfigurationException.class)
			.hasMessageContaining("it has no name");
	}

	private void assertRefused(Consumer<IdempotentRoute<ServerRequest>> description, String message) {
		assertThatThrownBy(() -> this.routes.filter("wrong", description))
			.isInstanceOf(IdempotencyConfigurationException.class)
			.hasMessageContaining("The route 'wrong'")
			.hasMessageContaining(message);
	}

}
