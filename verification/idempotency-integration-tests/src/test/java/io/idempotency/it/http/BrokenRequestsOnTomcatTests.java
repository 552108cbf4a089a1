package io.idempotency.it.http;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A body that breaks off, by a client that still listens: nothing runs, no key is used
 * up, and the whole request runs when it comes.
 */
class BrokenRequestsOnTomcatTests extends OnTomcat {

	private static final String PART = "\r\nContent-Disposition: form-data; name=";

	private static final Map<String, String> BODIES = Map.of("application/json", "{\"a\":\"one\",\"b\":\"two\"}",
			"text/plain", "one two three four", "application/x-www-form-urlencoded", "sku=sku-1&tag=a&tag=b",
			"multipart/form-data; boundary=b1", "--b1" + PART + "\"sku\"\r\n\r\nsku-1\r\n--b1" + PART
					+ "\"file\"; filename=\"f.txt\"\r\nContent-Type: text/plain\r\n\r\none two\r\n--b1--\r\n");

	@ParameterizedTest
	@MethodSource
	void bodyThatBreaksOffRunsNothing(String path, String contentType, boolean chunked) throws IOException {
		String uri = "/requests/" + path;
		int before = this.runs.of(uri);
		String answer = sendHalf(uri, contentType, chunked);
		if (closesConnectionsOfBrokenForms() && path.startsWith("form")) {
			assertThat(answer).isEmpty();
		}
		else {
			assertThat(answer).startsWith("HTTP/1.1 400 ");
		}
		assertThat(this.runs.of(uri)).as("runs of half a request").isEqualTo(before);
		Answer whole = this.client.post(uri, this.key, contentType, BODIES.get(contentType));
		assertThat(whole.status()).as("%s", whole).isEqualTo(200);
		assertThat(whole.replayed()).isFalse();
		assertThat(this.runs.of(uri)).as("runs of the whole request").isEqualTo(before + 1);
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
	 * The guard does not compare the body, so the handler reads it and meets the end.
	 * Tomcat then refuses the request itself, on its own response.
	 */
	@ParameterizedTest
	@MethodSource
	void bodyThatBreaksOffInsideTheHandlerIsNoAnswer(String path, String contentType, boolean chunked)
			throws IOException {
		String uri = "/uncompared/" + path;
		int before = this.runs.of(uri);
		String broken = sendHalf(uri, contentType, chunked);
		assertThat(broken).doesNotContain("Idempotent-Replayed");
		assertThat(this.runs.of(uri)).as("runs of half a request").isEqualTo(before + 1);
		Answer whole = this.client.post(uri, this.key, contentType, BODIES.get(contentType));
		if (broken.startsWith("HTTP/1.1 200 ")) {
			// The container leaves the answer to the handler, which has made one of a
			// part.
			assertThat(path).isIn("swallowed", "parameter");
			assertThat(whole.replayed()).isTrue();
			return;
		}
		assertThat(whole.status()).as("after %s: %s", broken, whole).isEqualTo(200);
		assertThat(whole.replayed()).isFalse();
		assertThat(this.runs.of(uri)).as("runs of the whole request").isEqualTo(before + 2);
	}

	static Stream<Arguments> bodyThatBreaksOffInsideTheHandlerIsNoAnswer() {
		return Stream
			.of(Arguments.of("stream", "application/json"), Arguments.of("stream", "application/x-www-form-urlencoded"),
					Arguments.of("by-target", "text/plain"), Arguments.of("reject", "text/plain"),
					Arguments.of("lock", "text/plain"), Arguments.of("remember", "text/plain"),
					Arguments.of("callable", "text/plain"), Arguments.of("swallowed", "text/plain"),
					Arguments.of("parameter", "application/x-www-form-urlencoded"))
			.flatMap((endpoint) -> Stream.of(false, true)
				.map((chunked) -> Arguments.of(endpoint.get()[0], endpoint.get()[1], chunked)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/uncompared/behind?by=error", "/uncompared/behind?by=status" })
	void errorThatIsSetBehindTheGuardIsNoAnswer(String path) {
		int before = this.runs.of("/uncompared/behind");
		Answer first = this.client.post(path, this.key);
		Answer second = this.client.post(path, this.key);
		assertThat(first.status()).isIn(409, 413);
		assertThat(second.status()).isEqualTo(first.status());
		assertThat(second.replayed()).isFalse();
		assertThat(this.runs.of("/uncompared/behind")).isEqualTo(before + 2);
	}

	/** Tomcat 11 does where it reads them itself, which it does before the guard here. */
	boolean closesConnectionsOfBrokenForms() {
		return isTomcat11();
	}

	/** Gives all that comes back. */
	private String sendHalf(String uri, String contentType, boolean chunked) throws IOException {
		byte[] body = BODIES.get(contentType).getBytes(StandardCharsets.UTF_8);
		byte[] half = Arrays.copyOf(body, body.length / 2);
		String framing = chunked ? "Transfer-Encoding: chunked" : "Content-Length: " + body.length;
		String head = "POST " + uri + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nIdempotency-Key: "
				+ this.key + "\r\nContent-Type: " + contentType + "\r\n" + framing + "\r\n\r\n";
		try (Socket socket = new Socket("127.0.0.1",
				Integer.parseInt(this.environment.getRequiredProperty("local.server.port")))) {
			OutputStream out = socket.getOutputStream();
			out.write(head.getBytes(StandardCharsets.UTF_8));
			if (chunked) {
				out.write((Integer.toHexString(body.length) + "\r\n").getBytes(StandardCharsets.UTF_8));
			}
			out.write(half);
			out.flush();
			socket.shutdownOutput();
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		}
	}

}
