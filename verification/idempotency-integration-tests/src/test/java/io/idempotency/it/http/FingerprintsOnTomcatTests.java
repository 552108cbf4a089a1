package io.idempotency.it.http;

import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class FingerprintsOnTomcatTests extends OnTomcat {

	private static final String JSON = "application/json";

	private static final String FORM = "application/x-www-form-urlencoded";

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\0', value = { "{\"a\":1,\"b\":2} | { \"b\" : 2, \"a\" : 1 }",
			"{\"a\":{\"x\":1,\"y\":[1,2]}} | {\"a\":{\"y\":[1, 2],\"x\":1}}", "{\"a\":\"A\"} | {\"a\":\"\\u0041\"}" })
	void equalJsonIsTheSameRequest(String first, String second) {
		this.client.post("/requests/json", this.key, JSON, first);
		Answer answer = this.client.post("/requests/json", this.key, JSON, second);
		assertThat(answer.replayed()).as("answer %s", answer).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '\0',
			value = { "{\"a\":1} | {\"a\":2}", "{\"a\":[1,2]} | {\"a\":[2,1]}", "{\"a\":null} | {}",
					"{\"a\":1.0} | {\"a\":1.00}", "{\"a\":\"1\"} | {\"a\":1}", "{\"a\":1} | {\"A\":1}" })
	void otherJsonIsAnotherRequest(String first, String second) {
		this.client.post("/requests/json", this.key, JSON, first);
		KeysOnTomcatTests.assertCode(this.client.post("/requests/json", this.key, JSON, second), 422, "key-reused");
	}

	@Test
	void numbersThatWouldNotFitIntoMemoryAreOnlyCompared() {
		String body = "{\"a\":1e999999999}";
		Answer first = this.client.post("/requests/text", this.key, JSON, body);
		Answer second = this.client.post("/requests/text", this.key, JSON, body);
		assertThat(first.status()).isEqualTo(200);
		assertThat(second.replayed()).isTrue();
		KeysOnTomcatTests.assertCode(this.client.post("/requests/text", this.key, JSON, "{\"a\":1e999999998}"), 422,
				"key-reused");
	}

	@Test
	void deeplyNestedBodyIsComparedByItsBytes() {
		String body = "[".repeat(30_000) + "]".repeat(30_000);
		assertThat(this.client.post("/requests/text", this.key, JSON, body).status()).isEqualTo(200);
		assertThat(this.client.post("/requests/text", this.key, JSON, body).replayed()).isTrue();
		KeysOnTomcatTests.assertCode(this.client.post("/requests/text", this.key, JSON, body + " "), 422, "key-reused");
	}

	@Test
	void queryIsComparedByItsDecodedParameters() {
		this.client.post("/requests/query?a=1&b=x%20y", this.key);
		assertThat(this.client.post("/requests/query?b=x+y&a=1", this.key).replayed()).isTrue();
		KeysOnTomcatTests.assertCode(this.client.post("/requests/query?a=2&b=x%20y", this.key), 422, "key-reused");
		KeysOnTomcatTests.assertCode(this.client.post("/requests/query?a=1", this.key), 422, "key-reused");
	}

	@Test
	void formIsComparedByItsDecodedParameters() {
		Answer first = this.client.post("/requests/form", this.key, FORM, "sku=a&tag=1&tag=2");
		assertThat(first.text()).isEqualTo("a [1, 2]");
		assertThat(this.client.post("/requests/form", this.key, FORM, "tag=1&sku=%61&tag=2").replayed()).isTrue();
		KeysOnTomcatTests.assertCode(this.client.post("/requests/form", this.key, FORM, "sku=a&tag=2&tag=1"), 422,
				"key-reused");
		KeysOnTomcatTests.assertCode(this.client.post("/requests/form", this.key, FORM, "sku=b&tag=1&tag=2"), 422,
				"key-reused");
	}

	@Test
	void formReadAsAMapOrFromTheRequestIsWhole() {
		assertThat(this.client.post("/requests/form-map", this.key, FORM, "b=2&a=1").text()).isEqualTo("{a=1, b=2}");
		assertThat(this.client.post("/requests/servlet-parameters?q=0", this.key, FORM, "b=2&a=1").text())
			.isEqualTo("a=[1] b=[2] q=[0] ");
		assertThat(this.client.post("/requests/input-stream", this.key, FORM, "b=2&a=1").text())
			.isEqualTo("got b=2&a=1");
	}

	@Test
	void formThatCannotBeReadIsComparedByItsBytes() {
		String many = "a=1&".repeat(1000);
		for (String form : new String[] { "a=%zz", many }) {
			String key = UUID.randomUUID().toString();
			this.client.post("/requests/input-stream", key, FORM, form + "&b=1");
			assertThat(this.client.post("/requests/input-stream", key, FORM, form + "&b=1").replayed()).isTrue();
			KeysOnTomcatTests.assertCode(this.client.post("/requests/input-stream", key, FORM, form + "&b=2"), 422,
					"key-reused");
		}
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "/requests/text", "/requests/entity", "/requests/input-stream", "/requests/servlet-request" })
	void handlerReceivesEveryByteAndAnotherBodyIsAnotherRequest(String path) {
		String body = "Grüße\u0000 und mehr";
		Answer first = this.client.post(path, this.key, "text/plain;charset=UTF-8", body);
		assertThat(first.text()).isEqualTo("got " + body);
		assertThat(this.client.post(path, this.key, "text/plain;charset=UTF-8", body).replayed()).isTrue();
		KeysOnTomcatTests.assertCode(this.client.post(path, this.key, "text/plain;charset=UTF-8", body + " "), 422,
				"key-reused");
	}

	@Test
	void multipartIsComparedWithoutItsBoundary() {
		Answer first = multipart("b1", "a", "receipt.txt", "text/plain", "one");
		Answer second = multipart("another-boundary", "a", "receipt.txt", "text/plain", "one");
		assertThat(first.status()).as("first %s", first).isEqualTo(200);
		assertThat(first.text()).contains("receipt.txt").contains("[111, 110, 101]");
		assertThat(second.replayed()).as("second %s", second).isTrue();
		KeysOnTomcatTests.assertCode(multipart("b1", "b", "receipt.txt", "text/plain", "one"), 422, "key-reused");
		KeysOnTomcatTests.assertCode(multipart("b1", "a", "other.txt", "text/plain", "one"), 422, "key-reused");
		KeysOnTomcatTests.assertCode(multipart("b1", "a", "receipt.txt", "text/html", "one"), 422, "key-reused");
		KeysOnTomcatTests.assertCode(multipart("b1", "a", "receipt.txt", "text/plain", "two"), 422, "key-reused");
	}

	/** Who reads it first, the container or the guard, decides what is compared. */
	@Test
	void formThatNobodyCanReadIsReplayed() {
		String form = "sku=%zz&=1";
		Answer first = this.client.post("/requests/optional-form", this.key, FORM, form);
		Answer second = this.client.post("/requests/optional-form", this.key, FORM, form);
		assertThat(first.status()).as("%s", first).isEqualTo(isTomcat11() ? 400 : 200);
		assertThat(second.status()).as("%s", second).isEqualTo(isTomcat11() ? 400 : 200);
		assertThat(second.replayed()).isEqualTo(!isTomcat11());
	}

	/**
	 * The dispatcher reads the parts before it looks for a handler: no guard is asked.
	 */
	@Test
	void malformedMultipartUsesNoKey() {
		int before = this.runs.of("/requests/multipart");
		Answer wrong = this.client.post("/requests/multipart", this.key, "multipart/form-data", "no boundary");
		assertThat(wrong.status()).as("%s", wrong).isEqualTo(500);
		Answer unguarded = this.client.post("/twins/unguarded/WRITER/1", this.key, "multipart/form-data",
				"no boundary");
		assertThat(unguarded.status()).as("what Spring makes of it without a guard").isEqualTo(500);
		assertThat(this.runs.of("/requests/multipart") - before).isZero();
		assertThat(multipart("b1", "a", "receipt.txt", "text/plain", "one").status()).isEqualTo(200);
	}

	private Answer multipart(String boundary, String sku, String file, String type, String content) {
		String body = "--" + boundary + "\r\nContent-Disposition: form-data; name=\"sku\"\r\n\r\n" + sku + "\r\n--"
				+ boundary + "\r\nContent-Disposition: form-data; name=\"file\"; filename=\"" + file
				+ "\"\r\nContent-Type: " + type + "\r\n\r\n" + content + "\r\n--" + boundary + "--\r\n";
		return this.client.post("/requests/multipart", this.key, "multipart/form-data; boundary=" + boundary, body);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/requests/json", "/requests/text", "/requests/input-stream", "/requests/entity" })
	void bodyOverTheLimitIsRefusedAndNothingRuns(String path) {
		int before = this.runs.of(path);
		String body = "{\"a\":\"" + "x".repeat(70_000) + "\"}";
		KeysOnTomcatTests.assertCode(this.client.post(path, this.key, JSON, body), 413, "body-too-large");
		assertThat(this.runs.of(path) - before).isZero();
		assertThat(this.client.post(path, this.key, JSON, "{\"a\":1}").status()).isEqualTo(200);
	}

	@ParameterizedTest
	@CsvSource({ "/keys/lock, application/json", "/keys/reject, application/json", "/keys/uncompared, application/json",
			"/keys/lock, application/octet-stream", "/keys/uncompared, application/octet-stream" })
	void bodyThatNobodyNeedsMayHaveAnySize(String path, String contentType) {
		int before = this.runs.of(path);
		byte[] body = ("\"" + "x".repeat(70_000) + "\"").getBytes(StandardCharsets.UTF_8);
		Answer answer = send(path, contentType, HttpRequest.BodyPublishers.ofByteArray(body));
		assertThat(answer.status()).isEqualTo(200);
		assertThat(this.runs.of(path) - before).isOne();
	}

	private Answer send(String path, String contentType, HttpRequest.BodyPublisher body) {
		return this.client.send(this.client.to(path)
			.header("Idempotency-Key", this.key)
			.header("Content-Type", contentType)
			.POST(body));
	}

	@Test
	void formAndMultipartOverTheLimitAreRefused() {
		KeysOnTomcatTests.assertCode(this.client.post("/requests/form", this.key, FORM, "sku=" + "x".repeat(70_000)),
				413, "body-too-large");
		KeysOnTomcatTests.assertCode(multipart("b", "a", "f", "text/plain", "x".repeat(70_000)), 413, "body-too-large");
	}

	@Test
	void pathIsComparedBeforeAnythingIsReplayed() {
		this.client.post("/keys/paths/7/pay", this.key);
		KeysOnTomcatTests.assertCode(this.client.post("/keys/paths/8/pay", this.key), 422, "key-reused");
	}

}
