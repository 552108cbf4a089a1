package io.idempotency.it.scenarios;

import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/** What of a request is compared. */
public interface FingerprintsScenarios extends Scenario {

	String JSON = "application/json";

	String FORM = "application/x-www-form-urlencoded";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\0',
			value = { "{\"a\":1,\"b\":2} | { \"b\" : 2, \"a\" : 1 }",
					"{\"a\":{\"x\":1,\"y\":[1,2]}} | {\"a\":{\"y\":[1, 2],\"x\":1}}",
					"{\"a\":\"A\"} | {\"a\":\"\\u0041\"}", "{\"a\":[1.0,1e2]} | {\"a\":[1,100]}" })
	default void equalJsonIsTheSameRequest(String first, String second) {
		client().post("/requests/json", key(), JSON, first);
		Answer answer = client().post("/requests/json", key(), JSON, second);
		assertThat(answer.replayed()).as("answer %s", answer).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\0',
			value = { "{\"a\":1} | {\"a\":2}", "{\"a\":[1,2]} | {\"a\":[2,1]}", "{\"a\":null} | {}",
					"{\"a\":1.0} | {\"a\":1.01}", "{\"a\":\"1\"} | {\"a\":1}", "{\"a\":1} | {\"A\":1}" })
	default void otherJsonIsAnotherRequest(String first, String second) {
		client().post("/requests/json", key(), JSON, first);
		Scenario.assertCode(client().post("/requests/json", key(), JSON, second), 422, "key-reused");
	}

	@Test
	default void numbersThatWouldNotFitIntoMemoryAreOnlyCompared() {
		String body = "{\"a\":1e999999999}";
		Answer first = client().post("/requests/text", key(), JSON, body);
		Answer second = client().post("/requests/text", key(), JSON, body);
		assertThat(first.status()).isEqualTo(200);
		assertThat(second.replayed()).isTrue();
		Scenario.assertCode(client().post("/requests/text", key(), JSON, "{\"a\":1e999999998}"), 422, "key-reused");
	}

	@Test
	default void deeplyNestedBodyIsComparedByItsBytes() {
		String body = "[".repeat(30_000) + "]".repeat(30_000);
		assertThat(client().post("/requests/text", key(), JSON, body).status()).isEqualTo(200);
		assertThat(client().post("/requests/text", key(), JSON, body).replayed()).isTrue();
		Scenario.assertCode(client().post("/requests/text", key(), JSON, body + " "), 422, "key-reused");
	}

	@Test
	default void queryIsComparedByItsDecodedParameters() {
		client().post("/requests/query?a=1&b=x%20y", key());
		assertThat(client().post("/requests/query?b=x+y&a=1", key()).replayed()).isTrue();
		Scenario.assertCode(client().post("/requests/query?a=2&b=x%20y", key()), 422, "key-reused");
		Scenario.assertCode(client().post("/requests/query?a=1", key()), 422, "key-reused");
	}

	@Test
	default void formIsComparedByItsDecodedParameters() {
		Answer first = client().post("/requests/form", key(), FORM, "sku=a&tag=1&tag=2");
		assertThat(first.text()).isEqualTo("a [1, 2]");
		assertThat(client().post("/requests/form", key(), FORM, "tag=1&sku=%61&tag=2").replayed()).isTrue();
		Scenario.assertCode(client().post("/requests/form", key(), FORM, "sku=a&tag=2&tag=1"), 422, "key-reused");
		Scenario.assertCode(client().post("/requests/form", key(), FORM, "sku=b&tag=1&tag=2"), 422, "key-reused");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "/requests/text", "/requests/entity", "/requests/input-stream", "/requests/servlet-request" })
	default void handlerReceivesEveryByteAndAnotherBodyIsAnotherRequest(String path) {
		String body = "Grüße\u0000 und mehr";
		Answer first = client().post(path, key(), "text/plain;charset=UTF-8", body);
		assertThat(first.text()).isEqualTo("got " + body);
		assertThat(client().post(path, key(), "text/plain;charset=UTF-8", body).replayed()).isTrue();
		Scenario.assertCode(client().post(path, key(), "text/plain;charset=UTF-8", body + " "), 422, "key-reused");
	}

	@Test
	default void multipartIsComparedWithoutItsBoundary() {
		Answer first = multipart("b1", "a", "receipt.txt", "text/plain", "one");
		Answer second = multipart("another-boundary", "a", "receipt.txt", "text/plain", "one");
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(first.text()).contains("receipt.txt").contains("[111, 110, 101]");
		assertThat(second.replayed()).as("second %s", second).isTrue();
		Scenario.assertCode(multipart("b1", "b", "receipt.txt", "text/plain", "one"), 422, "key-reused");
		Scenario.assertCode(multipart("b1", "a", "other.txt", "text/plain", "one"), 422, "key-reused");
		Scenario.assertCode(multipart("b1", "a", "receipt.txt", "text/html", "one"), 422, "key-reused");
		Scenario.assertCode(multipart("b1", "a", "receipt.txt", "text/plain", "two"), 422, "key-reused");
	}

	default Answer multipart(String boundary, String sku, String file, String type, String content) {
		String body = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"sku\"\r\n\r\n" + sku + "\r\n--"
				+ boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file
				+ "\"\r\nContent-Type: " + type + "\r\n\r\n" + content + "\r\n--" + boundary + "--\r\n";
		return client().post("/requests/multipart", key(), "multipart/form-data; boundary=" + boundary, body);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/requests/json", "/requests/text", "/requests/input-stream", "/requests/entity" })
	default void bodyOverTheLimitIsRejectedAndNothingRuns(String path) {
		int before = runs().of(path);
		String body = "{\"a\":\"" + "x".repeat(70_000) + "\"}";
		Scenario.assertCode(client().post(path, key(), JSON, body), 413, "body-too-large");
		assertThat(runs().of(path) - before).isZero();
		assertThat(client().post(path, key(), JSON, "{\"a\":1}").status()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "/keys/lock, application/json", "/keys/reject, application/json", "/keys/uncompared, application/json",
			"/keys/lock, application/octet-stream", "/keys/uncompared, application/octet-stream" })
	default void bodyThatNobodyNeedsMayHaveAnySize(String path, String contentType) {
		int before = runs().of(path);
		byte[] body = ("\"" + "x".repeat(70_000) + "\"").getBytes(StandardCharsets.UTF_8);
		Answer answer = send(path, contentType, HttpRequest.BodyPublishers.ofByteArray(body));
		assertThat(answer.status()).isEqualTo(200);
		assertThat(runs().of(path) - before).isOne();
	}

	private Answer send(String path, String contentType, HttpRequest.BodyPublisher body) {
		return client()
			.send(client().to(path).header("Idempotency-Key", key()).header("Content-Type", contentType).POST(body));
	}

	@Test
	default void formAndMultipartOverTheLimitAreRejected() {
		Scenario.assertCode(client().post("/requests/form", key(), FORM, "sku=" + "x".repeat(70_000)), 413,
				"body-too-large");
		Scenario.assertCode(multipart("b", "a", "f", "text/plain", "x".repeat(70_000)), 413, "body-too-large");
	}

	@Test
	default void pathIsComparedBeforeAnythingIsReplayed() {
		client().post("/keys/paths/7/pay", key());
		Scenario.assertCode(client().post("/keys/paths/8/pay", key()), 422, "key-reused");
	}

}
