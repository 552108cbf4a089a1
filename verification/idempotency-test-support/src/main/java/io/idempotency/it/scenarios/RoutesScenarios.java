package io.idempotency.it.scenarios;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Functional routes are guarded as methods of controllers are. */
public interface RoutesScenarios extends Scenario {

	String JSON = "application/json";

	String FORM = "application/x-www-form-urlencoded";

	String PARTS = "multipart/form-data; boundary=x";

	default Answer post(String path) {
		return client().post("/routes" + path, key());
	}

	default int runs(String path) {
		return runs().of("/routes" + path);
	}

	/** The second answer is the first one. */
	static void assertReplay(Answer first, Answer second) {
		assertThat(first.replayed()).as("first %s", first).isFalse();
		assertThat(second.replayed()).as("second %s", second).isTrue();
		assertThat(second.status()).isEqualTo(first.status());
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.comparableHeaders()).isEqualTo(first.comparableHeaders());
	}

	@Test
	default void duplicateGetsTheWholeAnswer() {
		int before = runs("/orders");
		Answer first = client().post("/routes/orders", key(), JSON, "{\"amount\":7}");
		Answer second = client().post("/routes/orders", key(), JSON, "{\"amount\" : 7}");
		assertThat(first.status()).as("first %s", first).isEqualTo(201);
		assertThat(first.text()).contains("\"amount\":7").contains(key());
		assertThat(first.header("Location")).endsWith("/routes/orders/7");
		assertThat(first.header("Set-Cookie")).startsWith("order=7");
		assertReplay(first, second);
		assertThat(second.header("Set-Cookie")).isNull();
		assertThat(runs("/orders") - before).isEqualTo(1);
	}

	@Test
	default void otherBodyIsRejected() {
		client().post("/routes/orders", key(), JSON, "{\"amount\":7}");
		Answer other = client().post("/routes/orders", key(), JSON, "{\"amount\":8}");
		Scenario.assertCode(other, 422, "key-reused");
		assertThat(other.header("Content-Type")).startsWith("application/problem+json");
	}

	@Test
	default void keyIsNeededAndMustBeValid() throws Exception {
		Answer missing = client().send(client().to("/routes/orders").POST(HttpRequest.BodyPublishers.ofString("{}")));
		Scenario.assertCode(missing, 400, "key-missing");
		assertThat(missing.text()).contains("in the header 'Idempotency-Key'").contains("POST /routes/orders");
		assertThat(client().raw("/routes/orders", "Idempotency-Key: a, b\r\n")).startsWith("HTTP/1.1 400")
			.contains("\"code\":\"key-invalid\"");
	}

	@Test
	default void safeMethodsOfTheSameRoutesPass() {
		HttpRequest.Builder get = client().to("/routes/orders").header("Idempotency-Key", key());
		Answer first = client().send(get);
		assertThat(first.status()).isEqualTo(200);
		assertThat(client().send(get).text()).isNotEqualTo(first.text());
		assertThat(client().send(client().to("/routes/orders")).status()).isEqualTo(200);
	}

	@Test
	default void duplicateOfARunningRequestIsRejected() {
		String path = "/gated/" + key();
		CompletableFuture<Answer> first = enter(path);
		Scenario.assertCode(post(path), 409, "in-progress");
		runs().held(key()).complete("done");
		assertReplay(first.join(), post(path));
	}

	@Test
	default void duplicateWaitsIfItIsToldTo() {
		String path = "/waiting/" + key();
		CompletableFuture<Answer> first = enter(path);
		CompletableFuture<Answer> second = CompletableFuture.supplyAsync(() -> post(path));
		runs().held(key()).complete("done");
		assertReplay(first.join(), second.join());
		assertThat(runs(path)).isEqualTo(1);
	}

	@Test
	default void workGoesOnWhenTheClientHangsUp() throws IOException {
		String path = "/gated/" + key();
		client().hangUp("/routes" + path, "Idempotency-Key: " + key() + "\r\n",
				() -> await().until(() -> runs(path) == 1));
		Scenario.assertCode(post(path), 409, "in-progress");
		runs().held(key()).complete("done");
		Answer repeated = await().until(() -> post(path), (answer) -> answer.status() != 409);
		assertThat(repeated.replayed()).isTrue();
		assertThat(runs(path)).isEqualTo(1);
	}

	/** Sends a request, and returns when its handler has begun. */
	private CompletableFuture<Answer> enter(String path) {
		CompletableFuture<Answer> first = CompletableFuture.supplyAsync(() -> post(path));
		await().until(() -> runs(path) == 1);
		return first;
	}

	@Test
	default void keyFromTheBody() {
		String order = "{\"order\":{\"id\":\"" + key() + "\"}}";
		Answer first = client().post("/routes/body", "ignored", JSON, order);
		assertReplay(first, client().post("/routes/body", "ignored too", JSON, order));
		Answer missing = client().post("/routes/body", "x", JSON, "{\"order\":{}}");
		Scenario.assertCode(missing, 400, "key-missing");
		assertThat(missing.text()).contains("at '/order/id' of its body");
		Scenario.assertCode(client().post("/routes/body", "x", JSON, "{\"order\":{\"id\":[1]}}"), 400, "key-invalid");
		Answer field = client().post("/routes/field", "x", FORM, "id=" + key());
		assertReplay(field, client().post("/routes/field", "y", FORM, "id=" + key()));
	}

	@Test
	default void keyFromAnotherHeader() {
		HttpRequest.Builder request = client().to("/routes/header")
			.header("X-Request-Id", key())
			.POST(HttpRequest.BodyPublishers.noBody());
		assertReplay(client().send(request), client().send(request));
		Scenario.assertCode(post("/header"), 400, "key-missing");
	}

	@Test
	default void keyAndFingerprintFromFunctions() {
		String path = "/routes/function/" + key() + "?amount=";
		Answer first = client().post(path + "1", "x");
		assertReplay(first, client().post(path + "1&other=2", "y"));
		Scenario.assertCode(client().post(path + "2", "x"), 422, "key-reused");
	}

	@Test
	default void keyThatIsNotNeeded() {
		HttpRequest.Builder without = client().to("/routes/optional").POST(HttpRequest.BodyPublishers.noBody());
		String first = client().send(without).text();
		assertThat(client().send(without).text()).isNotEqualTo(first);
		assertReplay(post("/optional"), post("/optional"));
	}

	@Test
	default void conditionThatDoesNotHoldRunsUnguarded() {
		assertThat(post("/condition").text()).isNotEqualTo(post("/condition").text());
		assertReplay(post("/condition?express"), post("/condition?express"));
	}

	@Test
	default void scopeFromAFunction() {
		Answer one = client().post("/routes/scope", key(), JSON, "{}", tenant("one"));
		Answer two = client().post("/routes/scope", key(), JSON, "{}", tenant("two"));
		assertThat(two.text()).isNotEqualTo(one.text());
		assertReplay(one, client().post("/routes/scope", key(), JSON, "{}", tenant("one")));
		Scenario.assertCode(post("/scope"), 400, "key-invalid");
	}

	private static Consumer<HttpRequest.Builder> tenant(String name) {
		return (request) -> request.header("X-Tenant", name);
	}

	@Test
	default void onlyIssuedTokens() {
		Scenario.assertCode(post("/token"), 400, "token-unknown");
	}

	@Test
	default void bodyThatIsNotCompared() {
		Answer first = client().post("/routes/not-compared", key(), JSON, "{\"a\":1}");
		assertReplay(first, client().post("/routes/not-compared", key(), JSON, "{\"a\":2}"));
	}

	@Test
	default void rejectModeRejectsEveryLaterRequest() {
		assertThat(post("/reject").status()).isEqualTo(200);
		Scenario.assertCode(post("/reject"), 409, "duplicate");
	}

	@Test
	default void lockModeLetsTheNextRequestRun() {
		Answer first = post("/lock");
		Answer second = post("/lock");
		assertThat(second.status()).isEqualTo(200);
		assertThat(second.text()).isNotEqualTo(first.text());
	}

	@Test
	default void answerThatIsNotKept() {
		assertThat(post("/not-kept").status()).isEqualTo(200);
		Scenario.assertCode(post("/not-kept"), 409, "result-unavailable");
	}

	@Test
	default void exceptionFreesTheKey() {
		int before = runs("/throws");
		assertThat(post("/throws").status()).isEqualTo(500);
		assertThat(post("/throws").status()).isEqualTo(500);
		assertThat(runs("/throws") - before).isEqualTo(2);
	}

	@Test
	default void exceptionWithAStatusOfAClientIsAnAnswer() {
		int before = runs("/throws-status");
		Answer first = post("/throws-status");
		Answer second = post("/throws-status");
		assertThat(first.status()).isEqualTo(404);
		assertThat(second.status()).isEqualTo(404);
		assertThat(second.replayed()).isTrue();
		assertThat(runs("/throws-status") - before).isEqualTo(1);
	}

	@Test
	default void failureThatIsRemembered() {
		int before = runs("/remembered");
		assertThat(post("/remembered").status()).isEqualTo(500);
		Answer second = post("/remembered");
		assertThat(second.status()).isEqualTo(500);
		assertThat(second.replayed()).isTrue();
		assertThat(runs("/remembered") - before).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "200, 1", "303, 1", "400, 1", "409, 1", "422, 1", "500, 2", "503, 2" })
	default void statusDecidesWhetherAnAnswerIsKept(int status, int expected) {
		String path = "/answers/" + status;
		int before = runs(path);
		assertThat(post(path).status()).isEqualTo(status);
		assertThat(post(path).status()).isEqualTo(status);
		assertThat(runs(path) - before).isEqualTo(expected);
	}

	@Test
	default void exceptionThatMeansAlreadyDone() {
		int before = runs("/already");
		Scenario.assertCode(post("/already"), 409, "result-unavailable");
		Scenario.assertCode(post("/already"), 409, "result-unavailable");
		assertThat(runs("/already") - before).isEqualTo(1);
	}

	@Test
	default void callersNeverMeet() {
		Answer alice = client().post("/routes/orders", key(), JSON, "{\"amount\":1}", Client.as("alice"));
		Answer bob = client().post("/routes/orders", key(), JSON, "{\"amount\":2}", Client.as("bob"));
		assertThat(bob.status()).isEqualTo(201);
		assertReplay(alice, client().post("/routes/orders", key(), JSON, "{\"amount\":1}", Client.as("alice")));
	}

	@Test
	default void usersOfAFilterOutsideNeverMeet() {
		Answer ada = client().post("/routes/identified", key(), JSON, "{}", user("ada"));
		Answer bob = client().post("/routes/identified", key(), JSON, "{}", user("bob"));
		assertThat(bob.replayed()).isFalse();
		assertThat(bob.text()).isNotEqualTo(ada.text());
		assertReplay(ada, client().post("/routes/identified", key(), JSON, "{}", user("ada")));
	}

	private static Consumer<HttpRequest.Builder> user(String name) {
		return (request) -> request.header("X-User", name);
	}

	@Test
	default void formIsComparedAndCanBeRead() {
		Answer first = client().post("/routes/form", key(), FORM, "sku=s&amount=7");
		assertThat(first.text()).startsWith("7 for s");
		assertReplay(first, client().post("/routes/form", key(), FORM, "sku=s&amount=7"));
		Scenario.assertCode(client().post("/routes/form", key(), FORM, "sku=s&amount=8"), 422, "key-reused");
		Answer body = client().post("/routes/form-body", key(), FORM, "sku=s");
		assertThat(body.text()).startsWith("sku=s");
		assertReplay(body, client().post("/routes/form-body", key(), FORM, "sku=s"));
	}

	@Test
	default void partsAreComparedAndCanBeRead() {
		String parts = "--x\r\nContent-Disposition: form-data; name=\"amount\"\r\n\r\n7\r\n--x--";
		Answer first = client().post("/routes/parts", key(), PARTS, parts);
		assertThat(first.text()).startsWith("7");
		assertReplay(first, client().post("/routes/parts", key(), PARTS, parts));
		Scenario.assertCode(client().post("/routes/parts", key(), PARTS, parts.replace("7", "8")), 422, "key-reused");
	}

	@Test
	default void filtersInsideBelongToTheHandler() {
		Answer first = client().post("/routes/nested/echo", key(), "text/plain", "hello ");
		assertThat(first.text()).startsWith("hello /routes/nested/echo");
		assertThat(first.header("X-Before")).isEqualTo("inner");
		int after = runs().of("after");
		assertReplay(first, client().post("/routes/nested/echo", key(), "text/plain", "hello "));
		assertThat(runs().of("after")).isEqualTo(after);
	}

	@Test
	default void streamIsNotKept() {
		assertStreamed("/events");
	}

	default void assertStreamed(String path) {
		int before = runs(path);
		Answer first = post(path);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(first.body()).isNotEmpty();
		await().untilAsserted(() -> Scenario.assertCode(post(path), 409, "result-unavailable"));
		assertThat(runs(path) - before).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/inside-optional", "/inside-condition" })
	default void guardInsideOfOneThatLetsTheRequestPassGuards(String path) {
		Scenario.assertCode(
				client().send(client().to("/routes" + path).POST(HttpRequest.BodyPublishers.ofString("{}"))), 400,
				"key-missing");
		assertReplay(post(path), post(path));
	}

	@Test
	default void guardsOneInsideOfTheOtherGuardOnce() {
		assertReplay(post("/inside-condition?express"), post("/inside-condition?express"));
	}

	@Test
	default void handlerOfExceptionsInsideMakesTheAnswer() {
		int before = runs("/nested/sold");
		Answer first = post("/nested/sold");
		assertThat(first.status()).isEqualTo(410);
		assertReplay(first, post("/nested/sold"));
		assertThat(runs("/nested/sold") - before).isEqualTo(1);
	}

	@Test
	default void handlerOfAllExceptionsOutsideSeesFailuresAndNoRejections() {
		assertThat(post("/nested/broken").text()).startsWith("outside: java.lang.IllegalStateException");
		client().post("/routes/nested/echo", key(), "text/plain", "one");
		Scenario.assertCode(client().post("/routes/nested/echo", key(), "text/plain", "two"), 422, "key-reused");
	}

	@Test
	default void whatAFilterOutsideRejectsUsesNoKey() {
		String path = "/routes/nested/echo";
		Consumer<HttpRequest.Builder> barred = (request) -> request.header("X-Barred", "yes");
		assertThat(client().post(path, key(), "text/plain", "one", barred).status()).isEqualTo(403);
		assertThat(client().post(path, key(), "text/plain", "two").status()).isEqualTo(200);
		assertThat(client().post(path, key(), "text/plain", "two", barred).status()).isEqualTo(403);
	}

	@Test
	default void routeWithoutAGuardRunsEachTime() {
		assertThat(client().post("/routes/unguarded", key(), "text/plain", "one").text()).isEqualTo("one");
		assertThat(client().post("/routes/unguarded", key(), "text/plain", "two").text()).isEqualTo("two");
	}

}
