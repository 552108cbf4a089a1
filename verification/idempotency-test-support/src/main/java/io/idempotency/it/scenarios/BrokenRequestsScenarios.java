package io.idempotency.it.scenarios;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A body that breaks off, by a client that still listens: nothing runs, no key is used
 * up, and the whole request runs when it comes.
 */
public interface BrokenRequestsScenarios extends Scenario {

	String PART = "\r\nContent-Disposition: form-data; name=";

	Map<String, String> BODIES = Map.of("application/json", "{\"a\":\"one\",\"b\":\"two\"}", "text/plain",
			"one two three four", "application/x-www-form-urlencoded", "sku=sku-1&tag=a&tag=b",
			"multipart/form-data; boundary=b1", "--b1" + PART + "\"sku\"\r\n\r\nsku-1\r\n--b1" + PART
					+ "\"file\"; filename=\"f.txt\"\r\nContent-Type: text/plain\r\n\r\none two\r\n--b1--\r\n");

	@ParameterizedTest
	@MethodSource
	default void bodyThatBreaksOffRunsNothing(String path, String contentType, boolean chunked) throws IOException {
		String uri = "/requests/" + path;
		int before = runs().of(uri);
		String answer = sendHalf(uri, contentType, chunked);
		if (closesConnections(path)) {
			assertThat(answer).isEmpty();
		}
		else {
			assertThat(answer).startsWith("HTTP/1.1 400 ");
		}
		assertThat(runs().of(uri)).as("runs of half a request").isEqualTo(before);
		Answer whole = client().post(uri, key(), contentType, BODIES.get(contentType));
		assertThat(whole.status()).as("%s", whole).isEqualTo(200);
		assertThat(whole.replayed()).isFalse();
		assertThat(runs().of(uri)).as("runs of the whole request").isEqualTo(before + 1);
	}

	static Stream<Arguments> bodyThatBreaksOffRunsNothing() {
		return Stream
			.of(Arguments.of("json", "application/json"), Arguments.of("text", "text/plain"),
					Arguments.of("bytes", "text/plain"), Arguments.of("entity", "text/plain"),
					Arguments.of("input-stream", "text/plain"), Arguments.of("servlet-request", "text/plain"),
					Arguments.of("form", "application/x-www-form-urlencoded"),
					Arguments.of("form-map", "application/x-www-form-urlencoded"),
					Arguments.of("servlet-parameters", "application/x-www-form-urlencoded"),
					Arguments.of("multipart", "multipart/form-data; boundary=b1"))
			.flatMap((endpoint) -> Stream.of(false, true)
				.map((chunked) -> Arguments.of(endpoint.get()[0], endpoint.get()[1], chunked)));
	}

	/**
	 * Returns whether the server gives no answer to such a request.
	 * @param path the path of the handler
	 */
	boolean closesConnections(String path);

	/** Gives all that comes back. */
	default String sendHalf(String uri, String contentType, boolean chunked) throws IOException {
		byte[] body = BODIES.get(contentType).getBytes(StandardCharsets.UTF_8);
		byte[] half = Arrays.copyOf(body, body.length / 2);
		String framing = chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + body.length;
		String head = "POST " + uri + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIdempotency-Key: " + key()
				+ "\r\nContent-Type: " + contentType + "\r\n" + framing + "\r\n\r\n"
				+ (chunked ? Integer.toHexString(body.length) + "\r\n" : "");
		return client().broken(head, half);
	}

}
