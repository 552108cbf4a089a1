package io.idempotency.it.http;

import java.io.IOException;
import java.net.http.HttpRequest;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class KeysOnTomcatTests extends OnTomcat {

	private static final String JSON = "application/json";

	@Test
	void missingKeyIsRefusedWithAProblem() {
		int before = this.runs.of("/keys/other");
		Answer answer = this.client.send(this.client.to("/keys/other").POST(HttpRequest.BodyPublishers.noBody()));
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
		assertThat(answer.text()).contains("\"type\":\"urn:idempotency:key-missing\"")
			.contains("\"title\":\"Idempotency-Key is missing\"")
			.contains("\"status\":400")
			.contains("\"detail\":")
			.contains("\"instance\":\"/keys/other\"")
			.contains("\"code\":\"key-missing\"");
		assertThat(this.runs.of("/keys/other") - before).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "Idempotency-Key: a\r\nIdempotency-Key: a\r\n", "Idempotency-Key: a, b\r\n",
			"Idempotency-Key: \"a\", \"b\"\r\n", "Idempotency-Key:\r\n", "Idempotency-Key: \"\"\r\n",
			"Idempotency-Key: \"open\r\n", "Idempotency-Key: a\"b\r\n", "Idempotency-Key: a;b\r\n",
			"Idempotency-Key: \"a b\"\r\n", "Idempotency-Key: \"a\" tail\r\n", "Idempotency-Key: \"a\\q\"\r\n",
			"Idempotency-Key: schl\u00fcssel\r\n", "Idempotency-Key: \"a\";Bad=1\r\n" })
	void malformedKeyIsRefusedAndNeverUnguarded(String header) throws IOException {
		for (String path : new String[] { "/keys/other", "/keys/optional" }) {
			int before = this.runs.of(path);
			String answer = this.client.raw(path, header);
			assertThat(answer).startsWith("HTTP/1.1 400").contains("\"code\":\"key-invalid\"");
			assertThat(this.runs.of(path) - before).isZero();
		}
	}

	@Test
	void tooLongKeyIsRefused() {
		assertCode(this.client.post("/keys/other", "k".repeat(8_000 - 200)), 400, "key-invalid");
		assertCode(this.client.post("/keys/other", "k".repeat(256)), 400, "key-invalid");
		assertThat(this.client.post("/keys/other", this.key + "k".repeat(255 - this.key.length())).status())
			.isEqualTo(200);
	}

	@Test
	void controlCharactersNeverReachTheHandler() throws IOException {
		int before = this.runs.of("/keys/other");
		assertThat(this.client.raw("/keys/other", "Idempotency-Key: a\u0001b\r\n")).startsWith("HTTP/1.1 400");
		assertThat(this.client.raw("/keys/other", "Idempotency-Key: a\rb\r\n")).startsWith("HTTP/1.1 400");
		assertThat(this.runs.of("/keys/other") - before).isZero();
	}

	@Test
	void quotedAndBareValueAreTheSameKey() {
		Answer bare = this.client.post("/keys/other", this.key);
		Answer quoted = this.client.post("/keys/other", "\"" + this.key + "\"");
		Answer withParameters = this.client.post("/keys/other", "\"" + this.key + "\";a=1;b=?0; c");
		assertThat(quoted.body()).isEqualTo(bare.body());
		assertThat(quoted.replayed()).isTrue();
		assertThat(withParameters.replayed()).isTrue();
	}

	@Test
	void absentKeyOfAnOptionalOneRunsUnguarded() {
		int before = this.runs.of("/keys/optional");
		HttpRequest.Builder request = this.client.to("/keys/optional").POST(HttpRequest.BodyPublishers.noBody());
		assertThat(this.client.send(request).status()).isEqualTo(200);
		assertThat(this.client.send(request).replayed()).isFalse();
		assertThat(this.runs.of("/keys/optional") - before).isEqualTo(2);
	}

	/** A browser may add one by itself. */
	@Test
	void keyThatNobodyAskedForIsIgnored() {
		String path = "/twins/unguarded/" + TwinsController.Kind.WRITER + "/1";
		assertThat(this.client.post(path, this.key).status()).isEqualTo(200);
		Answer again = this.client.post(path, this.key, "text/plain", "another body");
		assertThat(again.status()).isEqualTo(200);
		assertThat(again.replayed()).isFalse();
	}

	@Test
	void keyFromAnotherHeader() {
		HttpRequest.Builder request = this.client.to("/keys/header")
			.header("X-Request-Id", this.key)
			.POST(HttpRequest.BodyPublishers.noBody());
		Answer first = this.client.send(request);
		assertThat(this.client.send(request).body()).isEqualTo(first.body());
		assertCode(this.client.post("/keys/header", this.key), 400, "key-missing");
	}

	@Test
	void keyFromTheJsonBody() {
		String order = "{\"order\":{\"id\":\"" + this.key + "\"}}";
		Answer first = this.client.post("/keys/body", "ignored", JSON, order);
		Answer second = this.client.post("/keys/body", "ignored-too", JSON, order);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(second.replayed()).isTrue();
		assertCode(this.client.post("/keys/body", "x", JSON, "{\"order\":{}}"), 400, "key-missing");
		assertCode(this.client.post("/keys/body", "x", JSON, "{\"order\":{\"id\":null}}"), 400, "key-missing");
		assertCode(this.client.post("/keys/body", "x", JSON, "{\"order\":{\"id\":\"\"}}"), 400, "key-invalid");
		assertCode(this.client.post("/keys/body", "x", JSON, "{\"order\":{\"id\":[1]}}"), 400, "key-invalid");
	}

	/** A number is a key as it is written, and never computed. */
	@ParameterizedTest
	@ValueSource(strings = { "7", "-0.50", "1e999999999" })
	void numberInTheJsonBodyIsAKey(String number) {
		String order = "{\"order\":{\"id\":" + number + "}}";
		Answer first = this.client.post("/keys/body", "ignored", JSON, order);
		Answer second = this.client.post("/keys/body", "ignored-too", JSON, order);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(first.replayed()).isFalse();
		assertThat(second.status()).as("second %s", second).isEqualTo(200);
		assertThat(second.replayed()).isTrue();
	}

	@Test
	void keyFromAFormField() {
		String type = "application/x-www-form-urlencoded";
		String form = "sku=s&token=" + this.key;
		Answer first = this.client.post("/keys/form", "x", type, form);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(this.client.post("/keys/form", "x", type, form).replayed()).isTrue();
		assertCode(this.client.post("/keys/form", "x", type, "sku=s"), 400, "key-missing");
		assertCode(this.client.post("/keys/form", "x", type, "sku=s&token="), 400, "key-invalid");
	}

	@Test
	void keyFromAnExpression() {
		Answer first = spel("{\"user\":\"u\",\"any\":1}", this.key);
		Answer second = spel("{\"user\":\"u\",\"any\":2}", this.key);
		Answer other = spel("{\"user\":\"v\"}", this.key);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(second.replayed()).as("fingerprint is none: second %s", second).isTrue();
		assertThat(other.replayed()).isFalse();
		assertCode(spel("{}", this.key), 400, "key-missing");
	}

	private Answer spel(String body, String page) {
		return this.client.post("/keys/spel", "x", JSON, body, (request) -> request.header("X-Page", page));
	}

	@Test
	void conditionThatDoesNotHoldRunsUnguarded() {
		int before = this.runs.of("/keys/condition");
		this.client.post("/keys/condition?express=false", this.key);
		this.client.post("/keys/condition?express=false", this.key);
		assertThat(this.runs.of("/keys/condition") - before).isEqualTo(2);
		this.client.post("/keys/condition?express=true", this.key);
		assertThat(this.client.post("/keys/condition?express=true", this.key).replayed()).isTrue();
	}

	@Test
	void sameKeyAtAnotherEndpointIsAnotherKey() {
		Answer other = this.client.post("/keys/other", this.key);
		Answer text = this.client.post("/answers/text", this.key);
		assertThat(other.replayed()).isFalse();
		assertThat(text.replayed()).isFalse();
	}

	@Test
	void callersNeverMeet() {
		Answer alice = this.client.post("/keys/other", this.key, "text/plain", "", Client.as("alice"));
		Answer bob = this.client.post("/keys/other", this.key, "text/plain", "", Client.as("bob"));
		Answer anonymous = this.client.post("/keys/other", this.key, "text/plain", "");
		assertThat(bob.replayed()).isFalse();
		assertThat(anonymous.replayed()).isFalse();
		assertThat(bob.body()).isNotEqualTo(alice.body());
		assertThat(this.client.post("/keys/other", this.key, "text/plain", "", Client.as("alice")).body())
			.isEqualTo(alice.body());
		assertThat(this.client.post("/keys/other", this.key, "text/plain", "").body()).isEqualTo(anonymous.body());
	}

	@Test
	void safeMethodsOfAnAnnotatedClassAreNeverGuarded() {
		assertThat(this.client.send(this.client.to("/reading/class-level")).status()).isEqualTo(200);
		int before = this.runs.of("/reading/any-method");
		this.client.send(this.client.to("/reading/any-method").header("Idempotency-Key", this.key));
		this.client.send(this.client.to("/reading/any-method").header("Idempotency-Key", this.key));
		assertThat(this.runs.of("/reading/any-method") - before).isEqualTo(2);
		assertThat(this.client.post("/reading/any-method", this.key).replayed()).isFalse();
		assertThat(this.client.post("/reading/any-method", this.key).replayed()).isTrue();
	}

	@Test
	void annotatedGetMethodIsGuarded() {
		HttpRequest.Builder get = this.client.to("/reading/method-level").header("Idempotency-Key", this.key);
		Answer first = this.client.send(get);
		Answer second = this.client.send(get);
		assertThat(second.replayed()).isTrue();
		assertThat(second.body()).isEqualTo(first.body());
		assertCode(this.client.send(this.client.to("/reading/method-level")), 400, "key-missing");
	}

	@Test
	void guardedServiceCalledFromAnUnguardedControllerAnswersWithTheSameProblems() {
		Answer first = this.client.post("/keys/service?room=" + this.key, "x");
		Answer second = this.client.post("/keys/service?room=" + this.key, "x");
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertCode(second, 409, "duplicate");
		assertThat(second.text()).contains("\"attempts\":2");
		assertThat(this.client.post("/keys/service?room=" + this.key, "x").text()).contains("\"attempts\":3");
	}

	@Test
	void keyThatAClientHasChosenForAServiceMethodBelongsToTheCaller() {
		String path = "/keys/service-by-header?room=12";
		Answer alice = this.client.post(path, this.key, "text/plain", "", Client.as("alice"));
		Answer bob = this.client.post(path, this.key, "text/plain", "", Client.as("bob"));
		assertThat(alice.status()).isEqualTo(200);
		assertThat(bob.status()).isEqualTo(200);
		assertThat(bob.body()).isNotEqualTo(alice.body());
		assertThat(this.client.post(path, this.key, "text/plain", "", Client.as("alice")).body())
			.isEqualTo(alice.body());
	}

	@Test
	void refusalOfANestedCallIsNoResultOfTheOuter() {
		this.client.post("/keys/service?room=" + this.key, "x");
		Answer refused = this.client.post("/keys/nested?room=" + this.key, this.key);
		Answer again = this.client.post("/keys/nested?room=" + this.key, this.key);
		assertCode(refused, 409, "duplicate");
		assertCode(again, 409, "duplicate");
		assertThat(again.replayed()).isFalse();
		assertThat(again.text()).contains("\"attempts\":3");
	}

	@Test
	void rejectModeRefusesEveryLaterCall() {
		Answer first = this.client.post("/keys/reject", this.key);
		Answer second = this.client.post("/keys/reject", this.key);
		assertThat(first.status()).isEqualTo(200);
		assertCode(second, 409, "duplicate");
		assertThat(second.text()).contains("\"title\":\"Request was already received\"").contains("\"attempts\":2");
	}

	@Test
	void lockModeLetsTheNextCallRunWhenTheFirstHasEnded() {
		int before = this.runs.of("/keys/lock");
		assertThat(this.client.post("/keys/lock", this.key).replayed()).isFalse();
		assertThat(this.client.post("/keys/lock", this.key).replayed()).isFalse();
		assertThat(this.runs.of("/keys/lock") - before).isEqualTo(2);
	}

	static void assertCode(Answer answer, int status, String code) {
		assertThat(answer.status()).as("answer %s", answer).isEqualTo(status);
		assertThat(answer.text()).contains("\"code\":\"" + code + "\"");
	}

}
