package io.idempotency.it.webflux;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The library blocks no thread of the server. What an application does is its own affair.
 */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "idempotency.token.enabled=true")
@EnabledForJreRange(max = JRE.JAVA_21, disabledReason = "BlockHound does not name newer ones")
class NoThreadIsBlockedTests {

	private final HttpClient client = HttpClient.newHttpClient();

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	private HttpResponse<String> send(String path, String type, String body) throws Exception {
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + path))
			.header("Content-Type", type)
			.header("Idempotency-Key", this.key)
			.timeout(Duration.ofMinutes(2))
			.POST(HttpRequest.BodyPublishers.ofString(body))
			.build();
		return this.client.send(request, HttpResponse.BodyHandlers.ofString());
	}

	@Test
	void theLibraryBlocksNoThread() throws Exception {
		BlockedThreads.FOUND.clear();
		for (String path : List.of("/orders", "/mono", "/plain", "/future", "/status/404", "/thrown", "/events",
				"/large", "/once")) {
			send(path, "application/json", "{}");
			send(path, "application/json", "{}");
		}
		send("/orders", "application/json", "{\"other\":1}");
		send("/form", "application/x-www-form-urlencoded", "item=" + this.key);
		send("/upload", "multipart/form-data; boundary=b",
				"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\nx\r\n--b--\r\n");
		send("/idempotency/tokens", "text/plain", "");
		assertThat(BlockedThreads.FOUND).isEmpty();
	}

	@Test
	void aThreadThatIsBlockedIsFound() throws Exception {
		BlockedThreads.FOUND.clear();
		assertThat(send("/canary", "application/json", "{}").statusCode()).isEqualTo(200);
		assertThat(BlockedThreads.FOUND).singleElement().asString().contains("park");
		BlockedThreads.FOUND.clear();
	}

}
