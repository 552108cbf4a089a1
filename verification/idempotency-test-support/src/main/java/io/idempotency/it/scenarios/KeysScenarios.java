package io.idempotency.it.scenarios;

import java.io.IOException;
import java.net.http.HttpRequest;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** Where keys come from, whose they are, and what the modes do with them. */
public interface KeysScenarios extends Scenario {

	String JSON = "application/json";

	@Test
	default void missingKeyIsRejectedWithAProblem() {
		int before = runs().of("/keys/other");
		Answer answer = client().send(client().to("/keys/other").POST(HttpRequest.BodyPublishers.noBody()));
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
		assertThat(answer.text()).contains("\"type\":\"urn:idempotency:key-missing\"")
			.contains("\"title\":\"Idempotency-Key is missing\"")
			.contains("\"status\":400")
			.contains("\"detail\":")
			.contains("\"instance\":\"/keys/other\"")
			.contains("\"code\":\"key-missing\"");
		assertThat(runs().of("/keys/other") - before).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "Idempotency-Key: a\r\nIdempotency-Key: a\r\n", "Idempotency-Key: a, b\r\n",
			"Idempotency-Key: \"a\", \"b\"\r\n", "Idempotency-Key:\r\n", "Idempotency-Key: \"\"\r\n",
			"Idempotency-Key: \"open\r\n", "Idempotency-Key: a\"b\r\n", "Idempotency-Key: a;b\r\n",
			"Idempotency-Key: \"a b\"\r\n", "Idempotency-Key: \"a\" tail\r\n", "Idempotency-Key: \"a\\q\"\r\n",
			"Idempotency-Key: schl\u00fcssel\r\n", "Idempotency-Key: \"a\";Bad=1\r\n" })
	default void malformedKeyIsRejectedAndNeverUnguarded(String header) throws IOException {
		for (String path : new String[] { "/keys/other", "/keys/optional" }) {
			int before = runs().of(path);
			String answer = client().raw(path, header);
			assertThat(answer).startsWith("HTTP/1.1 400").contains("\"code\":\"key-invalid\"");
			assertThat(runs().of(path) - before).isZero();
		}
	}

	@Test
	default void tooLongKeyIsRejected() {
		Scenario.assertCode(client().post("/keys/other", "k".repeat(8_000 - 200)), 400, "key-invalid");
		Scenario.assertCode(client().post("/keys/other", "k".repeat(256)), 400, "key-invalid");
		assertThat(client().post("/keys/other", key() + "k".repeat(255 - key().length())).status()).isEqualTo(200);
	}

	@Test
	default void controlCharactersNeverReachTheHandler() throws IOException {
		int before = runs().of("/keys/other");
		assertThat(client().raw("/keys/other", "Idempotency-Key: a\u0001b\r\n")).startsWith("HTTP/1.1 400");
		assertThat(client().raw("/keys/other", "Idempotency-Key: a\rb\r\n")).startsWith("HTTP/1.1 400");
		assertThat(runs().of("/keys/other") - before).isZero();
	}

	@Test
	default void quotedAndBareValueAreTheSameKey() {
		Answer bare = client().post("/keys/other", key());
		Answer quoted = client().post("/keys/other", "\"" + key() + "\"");
		Answer withParameters = client().post("/keys/other", "\"" + key() + "\";a=1;b=?0; c");
		assertThat(quoted.body()).isEqualTo(bare.body());
		assertThat(quoted.replayed()).isTrue();
		assertThat(withParameters.replayed()).isTrue();
	}

	@Test
	default void absentKeyOfAnOptionalOneRunsUnguarded() {
		int before = runs().of("/keys/optional");
		HttpRequest.Builder request = client().to("/keys/optional").POST(HttpRequest.BodyPublishers.noBody());
		assertThat(client().send(request).status()).isEqualTo(200);
		assertThat(client().send(request).replayed()).isFalse();
		assertThat(runs().of("/keys/optional") - before).isEqualTo(2);
	}

	/** A browser may add one by itself. */
	@Test
	default void keyThatNobodyAskedForIsIgnored() {
		String path = "/twins/unguarded/WRITER/1";
		assertThat(client().post(path, key()).status()).isEqualTo(200);
		Answer again = client().post(path, key(), "text/plain", "another body");
		assertThat(again.status()).isEqualTo(200);
		assertThat(again.replayed()).isFalse();
	}

	@Test
	default void keyFromAnotherHeader() {
		HttpRequest.Builder request = client().to("/keys/header")
			.header("X-Request-Id", key())
			.POST(HttpRequest.BodyPublishers.noBody());
		Answer first = client().send(request);
		assertThat(client().send(request).body()).isEqualTo(first.body());
		Scenario.assertCode(client().post("/keys/header", key()), 400, "key-missing");
	}

	@Test
	default void keyFromTheJsonBody() {
		String order = "{\"order\":{\"id\":\"" + key() + "\"}}";
		Answer first = client().post("/keys/body", "ignored", JSON, order);
		Answer second = client().post("/keys/body", "ignored-too", JSON, order);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(second.replayed()).isTrue();
		Scenario.assertCode(client().post("/keys/body", "x", JSON, "{\"order\":{}}"), 400, "key-missing");
		Scenario.assertCode(client().post("/keys/body", "x", JSON, "{\"order\":{\"id\":null}}"), 400, "key-missing");
		Scenario.assertCode(client().post("/keys/body", "x", JSON, "{\"order\":{\"id\":\"\"}}"), 400, "key-invalid");
		Scenario.assertCode(client().post("/keys/body", "x", JSON, "{\"order\":{\"id\":[1]}}"), 400, "key-invalid");
	}

	/** A number is a key as it is written, and never computed. */
	@ParameterizedTest
	@ValueSource(strings = { "7", "-0.50", "1e999999999" })
	default void numberInTheJsonBodyIsAKey(String number) {
		String order = "{\"order\":{\"id\":" + number + "}}";
		Answer first = client().post("/keys/body", "ignored", JSON, order);
		Answer second = client().post("/keys/body", "ignored-too", JSON, order);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(first.replayed()).isFalse();
		assertThat(second.status()).as("second %s", second).isEqualTo(200);
		assertThat(second.replayed()).isTrue();
	}

	@Test
	default void keyFromAFormField() {
		String type = "application/x-www-form-urlencoded";
		String form = "sku=s&token=" + key();
		Answer first = client().post("/keys/form", "x", type, form);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(client().post("/keys/form", "x", type, form).replayed()).isTrue();
		Scenario.assertCode(client().post("/keys/form", "x", type, "sku=s"), 400, "key-missing");
		Scenario.assertCode(client().post("/keys/form", "x", type, "sku=s&token="), 400, "key-invalid");
	}

	/** Else a call whose key is optional would run unguarded. */
	@ParameterizedTest
	@ValueSource(strings = { "&", "a=100%&", "=1&", "many" })
	default void findsKeyInAnyForm(String before) {
		String form = (before.equals("many") ? "a=1&".repeat(1500) : before) + "token=" + key();
		Answer first = client().post("/keys/optional-form", "x", "application/x-www-form-urlencoded", form);
		Answer second = client().post("/keys/optional-form", "x", "application/x-www-form-urlencoded", form);
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(second.replayed()).as("second %s", second).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "token=%zz", "token=M%FCller", "token=%", "a=1&%FC&token=%FC" })
	default void rejectsFormWhoseKeyIsNoText(String form) {
		Scenario.assertCode(client().post("/keys/optional-form", "x", "application/x-www-form-urlencoded", form), 400,
				"key-invalid");
	}

	@ParameterizedTest
	@ValueSource(strings = { "scope", "condition" })
	default void rejectsExpressionOverFormFieldThatIsNoText(String attribute) {
		String path = "/keys/form-" + attribute;
		Answer rejected = client().post(path, key(), "application/x-www-form-urlencoded", "tenant=M%FCller");
		assertThat(rejected.status()).as("rejected %s", rejected).isEqualTo(400);
		// Tomcat 11 rejects such a form itself.
		assertThat(rejected.text()).containsAnyOf("\"code\":\"key-invalid\"", "\"error\":\"Bad Request\"");
		Answer first = client().post(path, key(), "application/x-www-form-urlencoded", "tenant=M%C3%BCller");
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
	}

	@Test
	default void keyFromAnExpression() {
		Answer first = spel("{\"user\":\"u\",\"any\":1}", key());
		Answer second = spel("{\"user\":\"u\",\"any\":2}", key());
		Answer other = spel("{\"user\":\"v\"}", key());
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(second.replayed()).as("fingerprint is none: second %s", second).isTrue();
		assertThat(other.replayed()).isFalse();
		Scenario.assertCode(spel("{}", key()), 400, "key-missing");
	}

	private Answer spel(String body, String page) {
		return client().post("/keys/spel", "x", JSON, body, (request) -> request.header("X-Page", page));
	}

	@Test
	default void conditionThatDoesNotHoldRunsUnguarded() {
		int before = runs().of("/keys/condition");
		client().post("/keys/condition?express=false", key());
		client().post("/keys/condition?express=false", key());
		assertThat(runs().of("/keys/condition") - before).isEqualTo(2);
		client().post("/keys/condition?express=true", key());
		assertThat(client().post("/keys/condition?express=true", key()).replayed()).isTrue();
	}

	@Test
	default void sameKeyAtAnotherEndpointIsAnotherKey() {
		Answer other = client().post("/keys/other", key());
		Answer text = client().post("/answers/text", key());
		assertThat(other.replayed()).isFalse();
		assertThat(text.replayed()).isFalse();
	}

	@Test
	default void callersNeverMeet() {
		Answer alice = client().post("/keys/other", key(), "text/plain", "", Client.as("alice"));
		Answer bob = client().post("/keys/other", key(), "text/plain", "", Client.as("bob"));
		Answer anonymous = client().post("/keys/other", key(), "text/plain", "");
		assertThat(bob.replayed()).isFalse();
		assertThat(anonymous.replayed()).isFalse();
		assertThat(bob.body()).isNotEqualTo(alice.body());
		assertThat(client().post("/keys/other", key(), "text/plain", "", Client.as("alice")).body())
			.isEqualTo(alice.body());
		assertThat(client().post("/keys/other", key(), "text/plain", "").body()).isEqualTo(anonymous.body());
	}

	@Test
	default void safeMethodsOfAnAnnotatedClassAreNeverGuarded() {
		assertThat(client().send(client().to("/reading/class-level")).status()).isEqualTo(200);
		int before = runs().of("/reading/any-method");
		client().send(client().to("/reading/any-method").header("Idempotency-Key", key()));
		client().send(client().to("/reading/any-method").header("Idempotency-Key", key()));
		assertThat(runs().of("/reading/any-method") - before).isEqualTo(2);
		assertThat(client().post("/reading/any-method", key()).replayed()).isFalse();
		assertThat(client().post("/reading/any-method", key()).replayed()).isTrue();
	}

	@Test
	default void annotatedGetMethodIsGuarded() {
		HttpRequest.Builder get = client().to("/reading/method-level").header("Idempotency-Key", key());
		Answer first = client().send(get);
		Answer second = client().send(get);
		assertThat(second.replayed()).isTrue();
		assertThat(second.body()).isEqualTo(first.body());
		Scenario.assertCode(client().send(client().to("/reading/method-level")), 400, "key-missing");
	}

	@Test
	default void guardedServiceCalledFromAnUnguardedControllerAnswersWithTheSameProblems() {
		Answer first = client().post("/keys/service?room=" + key(), "x");
		Answer second = client().post("/keys/service?room=" + key(), "x");
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		Scenario.assertCode(second, 409, "duplicate");
		assertThat(second.text()).contains("\"attempts\":2");
		assertThat(client().post("/keys/service?room=" + key(), "x").text()).contains("\"attempts\":3");
	}

	@Test
	default void keyThatAClientHasChosenForAServiceMethodBelongsToTheCaller() {
		String path = "/keys/service-by-header?room=12";
		Answer alice = client().post(path, key(), "text/plain", "", Client.as("alice"));
		Answer bob = client().post(path, key(), "text/plain", "", Client.as("bob"));
		assertThat(alice.status()).isEqualTo(200);
		assertThat(bob.status()).isEqualTo(200);
		assertThat(bob.body()).isNotEqualTo(alice.body());
		assertThat(client().post(path, key(), "text/plain", "", Client.as("alice")).body()).isEqualTo(alice.body());
	}

	@Test
	default void rejectionOfANestedCallIsNoResultOfTheOuter() {
		client().post("/keys/service?room=" + key(), "x");
		Answer rejected = client().post("/keys/nested?room=" + key(), key());
		Answer again = client().post("/keys/nested?room=" + key(), key());
		Scenario.assertCode(rejected, 409, "duplicate");
		Scenario.assertCode(again, 409, "duplicate");
		assertThat(again.replayed()).isFalse();
		assertThat(again.text()).contains("\"attempts\":3");
	}

	@Test
	default void rejectModeRejectsEveryLaterCall() {
		Answer first = client().post("/keys/reject", key());
		Answer second = client().post("/keys/reject", key());
		assertThat(first.status()).isEqualTo(200);
		Scenario.assertCode(second, 409, "duplicate");
		assertThat(second.text()).contains("\"title\":\"Request was already received\"").contains("\"attempts\":2");
	}

	@Test
	default void lockModeLetsTheNextCallRunWhenTheFirstHasEnded() {
		int before = runs().of("/keys/lock");
		assertThat(client().post("/keys/lock", key()).replayed()).isFalse();
		assertThat(client().post("/keys/lock", key()).replayed()).isFalse();
		assertThat(runs().of("/keys/lock") - before).isEqualTo(2);
	}

}
