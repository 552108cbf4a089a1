package io.idempotency.it.around;

import java.io.ByteArrayInputStream;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;
import java.util.zip.GZIPInputStream;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

@SpringBootTest(classes = AroundApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "server.compression.enabled=true", "server.compression.min-response-size=100B",
				"server.compression.mime-types=text/plain" })
class AroundOnTomcatTests extends AroundContract {

	@Value("${local.server.port}")
	int port;

	@Override
	Answer send(String method, String path) {
		return send(path, (request) -> request.method(method, HttpRequest.BodyPublishers.noBody()));
	}

	private Answer send(String path, UnaryOperator<HttpRequest.Builder> more) {
		Client client = new Client(this.port);
		return client.send(more.apply(client.to(path).header("Idempotency-Key", this.key)));
	}

	@ParameterizedTest
	@ValueSource(strings = { "small", "large", "rejected", "broken", "released", "callable", "future", "deferred",
			"body", "emitter" })
	void lastAttemptOfTheHandlerDecidesWhatIsStored(String form) {
		String path = "/around/again/" + form;
		Answer first = send(path, AroundOnTomcatTests::post);
		assertThat(first.status()).as("%s", first).isEqualTo(200);
		Answer second = send(path, AroundOnTomcatTests::post);
		if (form.equals("large") || form.equals("emitter")) {
			assertThat(second.text()).contains("result-unavailable");
		}
		else {
			assertThat(second.status()).as("%s", second).isEqualTo(200);
			assertThat(second.replayed()).isTrue();
			assertThat(second.body()).isEqualTo(first.body());
		}
		assertThat(this.calls.of("run")).isEqualTo(2);
		assertThat(this.calls.of("guarded")).isEqualTo(2);
	}

	@Test
	void replayIsCompressedForWhoeverWantsIt() throws Exception {
		Answer zipped = send("/around/long", (request) -> post(request).header("Accept-Encoding", "gzip"));
		Answer plain = send("/around/long", AroundOnTomcatTests::post);
		Answer zippedAgain = send("/around/long", (request) -> post(request).header("Accept-Encoding", "gzip"));
		assertThat(zipped.header("Content-Encoding")).isEqualTo("gzip");
		assertThat(zipped.replayed()).isFalse();
		assertThat(plain.header("Content-Encoding")).isNull();
		assertThat(plain.replayed()).isTrue();
		assertThat(zippedAgain.header("Content-Encoding")).isEqualTo("gzip");
		assertThat(zippedAgain.replayed()).isTrue();
		assertThat(unzip(zipped)).isEqualTo(plain.text()).isEqualTo(unzip(zippedAgain));
		assertThat(this.calls.of("run")).isEqualTo(1);
	}

	private static HttpRequest.Builder post(HttpRequest.Builder request) {
		return request.POST(HttpRequest.BodyPublishers.noBody());
	}

	private static String unzip(Answer answer) throws Exception {
		try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(answer.body()))) {
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

}
