package io.idempotency.it.webflux;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The work of a client that hangs up is cancelled: its end is not known. */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "idempotency.http.on-disconnect=cancel")
class HangUpWithCancelTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	private static int runs(String name) {
		AtomicInteger runs = OrdersController.RUNS.get(name);
		return (runs != null) ? runs.get() : 0;
	}

	@Test
	void workIsCancelledAndTheKeyIsLeftToItsLease() throws Exception {
		try (RawClient client = new RawClient(this.port)) {
			client.send("/cancelled", this.key, "X-Gate: " + this.key + "\r\n", 0, "");
			await().until(() -> runs("gate " + this.key) == 1);
		}
		await().until(() -> runs("cancelled " + this.key) == 1);
		OrdersController.GATES.get(this.key).tryEmitEmpty();
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + "/cancelled"))
			.header("Idempotency-Key", this.key)
			.header("X-Gate", this.key)
			.timeout(PATIENCE)
			.POST(HttpRequest.BodyPublishers.noBody())
			.build();
		HttpResponse<String> repeated = await().until(
				() -> HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()),
				(answer) -> answer.statusCode() == 200);
		assertThat(repeated.body()).isEqualTo("answer");
		assertThat(repeated.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(runs("gate " + this.key)).isEqualTo(2);
	}

}
