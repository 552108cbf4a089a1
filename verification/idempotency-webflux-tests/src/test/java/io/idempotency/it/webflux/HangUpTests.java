package io.idempotency.it.webflux;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;

import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Clients of WebFlux that hang up: nothing changes, and the repetition gets the answer.
 */
@SpringBootTest(classes = WebFluxApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class HangUpTests {

	private static final Duration PATIENCE = Duration.ofMinutes(2);

	private static final int REQUESTS = Integer.getInteger("idempotency.tests.hang-ups", 600);

	private static final int KEYS = REQUESTS / 4;

	/** So many requests of clients that stay are on their way. */
	private static final int STAYING = 64;

	private final HttpClient client = HttpClient.newHttpClient();

	private final String key = UUID.randomUUID().toString();

	@Value("${local.server.port}")
	private int port;

	private HttpRequest request(String path, String key) {
		return HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + path))
			.header("Content-Type", "application/json")
			.header("Idempotency-Key", key)
			.header("X-Gate", this.key)
			.timeout(PATIENCE)
			.POST(HttpRequest.BodyPublishers.noBody())
			.build();
	}

	private HttpResponse<String> send(String path, String key) throws Exception {
		return this.client.send(request(path, key), HttpResponse.BodyHandlers.ofString());
	}

	@Test
	void beforeTheClaim() throws Exception {
		int before = runs("orders");
		try (RawClient client = new RawClient(this.port)) {
			client.send("/orders", this.key, "", 100, "{\"half\":");
		}
		HttpRequest whole = HttpRequest.newBuilder(request("/orders", this.key), (name, value) -> true)
			.POST(HttpRequest.BodyPublishers.ofString("{\"whole\":true}"))
			.build();
		HttpResponse<String> answer = this.client.send(whole, HttpResponse.BodyHandlers.ofString());
		assertThat(answer.statusCode()).as(answer.body()).isEqualTo(201);
		assertThat(answer.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThat(runs("orders")).isEqualTo(before + 1);
	}

	@Test
	void inTheHandler() throws Exception {
		int before = runs("gated");
		try (RawClient client = new RawClient(this.port)) {
			client.send("/gated", this.key, "X-Gate: " + this.key + "\r\n", 0, "");
			await().until(() -> runs("gate " + this.key) == 1);
		}
		assertThat(send("/gated", this.key).body()).contains("in-progress");
		OrdersController.GATES.get(this.key).tryEmitEmpty();
		HttpResponse<String> repeated = awaitEnd("/gated");
		assertThat(repeated.body()).isEqualTo("answer");
		assertThat(repeated.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(runs("gated")).isEqualTo(before + 1);
	}

	/**
	 * What is left of the body goes with the connection. Work that goes on would see the
	 * end of a body without it, and be done with nothing.
	 */
	@ParameterizedTest
	@CsvSource({ "/late-body, application/json, amount=7, nothing",
			"/late-form, application/x-www-form-urlencoded, amount=7, {}" })
	void beforeTheHandlerReadsTheBody(String path, String type, String body, String nothing) throws Exception {
		try (RawClient client = new RawClient(this.port)) {
			client.send(path, this.key, "X-Gate: " + this.key + "\r\nContent-Type: " + type + "\r\n", body.length(),
					body);
			await().atMost(PATIENCE).until(() -> runs("gate " + this.key) == 1);
		}
		await().atMost(PATIENCE).until(() -> runs("gone " + this.key) == 1);
		OrdersController.GATES.get(this.key).tryEmitEmpty();
		HttpRequest again = HttpRequest
			.newBuilder(request(path, this.key), (name, value) -> !name.equals("Content-Type"))
			.header("Content-Type", type)
			.POST(HttpRequest.BodyPublishers.ofString(body))
			.build();
		HttpResponse<String> repeated = await().atMost(PATIENCE)
			.until(() -> this.client.send(again, HttpResponse.BodyHandlers.ofString()),
					(answer) -> answer.statusCode() != 409);
		assertThat(runs(path.substring(1) + " " + this.key + " " + nothing)).isZero();
		assertThat(repeated.statusCode()).as(repeated.body()).isEqualTo(200);
		assertThat(repeated.body()).contains("amount");
	}

	@Test
	void inTheAnswer() throws Exception {
		int before = runs("large");
		try (RawClient client = new RawClient(this.port)) {
			client.send("/large", this.key, "", 0, "").awaitAnswer();
		}
		assertThat(awaitEnd("/large").body()).contains("result-unavailable");
		assertThat(runs("large")).isEqualTo(before + 1);
	}

	/** A server may forget to end what it writes when it loses its client. */
	@ParameterizedTest
	@ValueSource(strings = { "", "X-Forgetful-Server: yes\r\n" })
	void inAStreamThatGoesOn(String server) throws Exception {
		int before = runs("ticks");
		try (RawClient client = new RawClient(this.port)) {
			client.send("/ticks", this.key, server, 0, "").awaitAnswer();
		}
		assertThat(awaitEnd("/ticks").body()).contains("result-unavailable");
		assertThat(runs("ticks")).isEqualTo(before + 1);
	}

	@Test
	void whileADuplicateWaits() throws Exception {
		int before = runs("waiting");
		CompletableFuture<HttpResponse<String>> first = this.client.sendAsync(request("/waiting", this.key),
				HttpResponse.BodyHandlers.ofString());
		await().until(() -> runs("gate " + this.key) == 1);
		try (RawClient waiting = new RawClient(this.port)) {
			waiting.send("/waiting", this.key, "X-Gate: " + this.key + "\r\n", 0, "");
		}
		OrdersController.GATES.get(this.key).tryEmitEmpty();
		assertThat(first.get().statusCode()).isEqualTo(200);
		assertThat(awaitEnd("/waiting").body()).isEqualTo(first.get().body());
		assertThat(runs("waiting")).isEqualTo(before + 1);
	}

	private HttpResponse<String> awaitEnd(String path) {
		return await().until(() -> send(path, this.key), (answer) -> !answer.body().contains("\"in-progress\""));
	}

	@Test
	@Timeout(value = 30, unit = TimeUnit.MINUTES)
	void stormOfClientsThatHangUp() throws Exception {
		Random random = new Random(30);
		Semaphore places = new Semaphore(STAYING);
		for (int i = 0; i < REQUESTS; i++) {
			String storm = this.key + "-" + i % KEYS;
			if (random.nextBoolean()) {
				places.acquire();
				this.client.sendAsync(request("/storm", storm), HttpResponse.BodyHandlers.discarding())
					.whenComplete((answer, thrown) -> places.release());
				continue;
			}
			try (RawClient client = new RawClient(this.port)) {
				client.send("/storm", storm, "", 0, "");
				// A moment of any length: the server works meanwhile.
				for (int spin = random.nextInt(20_000); spin > 0; spin--) {
					Thread.onSpinWait();
				}
			}
		}
		places.acquire(STAYING);
		for (int i = 0; i < KEYS; i++) {
			String storm = this.key + "-" + i;
			await().pollDelay(Duration.ZERO).until(() -> send("/storm", storm).statusCode() == 200);
			assertThat(runs("storm " + storm)).as(storm).isEqualTo(1);
		}
	}

}
