package io.idempotency.it.http;

import java.io.IOException;
import java.util.stream.Stream;

import io.idempotency.it.client.Answer;
import io.idempotency.it.scenarios.BrokenRequestsScenarios;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A body that breaks off, by a client that still listens: nothing runs, no key is used
 * up, and the whole request runs when it comes.
 */
class BrokenRequestsOnTomcatTests extends OnTomcat implements BrokenRequestsScenarios {

	/**
	 * The guard does not compare the body, so the handler reads it and meets the end.
	 * Tomcat then rejects the request itself, on its own response.
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

	@Override
	public boolean closesConnections(String path) {
		return closesConnectionsOfBrokenForms() && path.startsWith("form");
	}

	/** Tomcat 11 does where it reads them itself, which it does before the guard here. */
	boolean closesConnectionsOfBrokenForms() {
		return isTomcat11();
	}

}
