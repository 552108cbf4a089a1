package io.idempotency.it.webflux;

import java.net.http.HttpRequest;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static io.idempotency.it.webflux.OrdersController.runs;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** WebFlux with Redis, which may go away: what happens then is the node's policy. */
@Requires(Backend.REDIS)
class RedisStoreTests implements HangUpScenarios {

	private static RedisServer server;

	private static ConfigurableApplicationContext rejecting;

	/** Waits less for a server that is not there. */
	private static ConfigurableApplicationContext impatient;

	private static ConfigurableApplicationContext proceeding;

	private static ConfigurableApplicationContext cancelling;

	private final Client client = client(rejecting);

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		server = RedisServer.start(RedisBinary.REDIS_7_0);
		// A busy machine may keep a call of the store waiting.
		rejecting = start("reject", "10s", "continue");
		impatient = start("reject", "3s", "continue");
		proceeding = start("proceed", "500ms", "continue");
		cancelling = start("reject", "10s", "cancel");
	}

	private static ConfigurableApplicationContext start(String onStoreFailure, String storeTimeout,
			String onDisconnect) {
		return new SpringApplicationBuilder(WebFluxApplication.class, TokensController.class, HeldForm.Engine.class)
			.registerShutdownHook(false)
			.run("--server.port=0", "--idempotency.http.on-disconnect=" + onDisconnect, "--idempotency.store=redis",
					"--idempotency.token.enabled=true", "--spring.data.redis.host=127.0.0.1",
					"--spring.data.redis.port=" + server.port(), "--spring.data.redis.repositories.enabled=false",
					"--idempotency.store-timeout=" + storeTimeout, "--idempotency.on-store-failure=" + onStoreFailure);
	}

	@AfterAll
	static void stop() {
		for (ConfigurableApplicationContext application : new ConfigurableApplicationContext[] { rejecting, impatient,
				proceeding, cancelling }) {
			if (application != null) {
				application.close();
			}
		}
		if (server != null) {
			server.close();
		}
	}

	@Override
	public ConfigurableApplicationContext continuing() {
		return rejecting;
	}

	@Override
	public ConfigurableApplicationContext cancelling() {
		return cancelling;
	}

	private static Client client(ConfigurableApplicationContext application) {
		return new Client(application.getEnvironment().getRequiredProperty("local.server.port", int.class));
	}

	private Answer send(Client client, String path) {
		return send(client, path, this.key);
	}

	private Answer send(Client client, String path, String key) {
		Consumer<HttpRequest.Builder> gate = (request) -> request.header("X-Gate", this.key);
		return client.post(path, key, "application/json", "{\"item\":\"" + key + "\"}", gate);
	}

	private static void assertProblem(Answer answer, int status, String code) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(status);
		assertThat(answer.text()).contains("\"code\":\"" + code + "\"");
	}

	private static void assertReplayed(Answer first, Answer second) {
		assertThat(first.replayed()).isFalse();
		assertThat(second.replayed()).isTrue();
		assertThat(second.status()).isEqualTo(first.status());
		assertThat(second.text()).isEqualTo(first.text());
	}

	private void openGate() {
		OrdersController.GATES.get(this.key).tryEmitEmpty();
	}

	private static CompletableFuture<Answer> async(Supplier<Answer> sent) {
		return CompletableFuture.supplyAsync(sent, (task) -> new Thread(task).start());
	}

	private CompletableFuture<Answer> begin(Client client, String path) {
		int before = runs("gate " + this.key);
		CompletableFuture<Answer> begun = async(() -> send(client, path));
		await().until(() -> runs("gate " + this.key) > before);
		return begun;
	}

	@ParameterizedTest
	@ValueSource(strings = { "orders", "empty", "flux", "entity", "status/404", "by-argument", "form" })
	void duplicateGetsTheFirstAnswer(String path) {
		String name = path.replace('/', '-');
		int before = runs(name);
		if (path.equals("form")) {
			String form = "item=" + this.key + "&text=a";
			assertReplayed(this.client.post("/form", "", "application/x-www-form-urlencoded", form),
					this.client.post("/form", "", "application/x-www-form-urlencoded", form));
		}
		else {
			assertReplayed(send(this.client, "/" + path), send(this.client, "/" + path));
		}
		assertThat(runs(name)).isEqualTo(before + 1);
	}

	@Test
	void overlappingRequestIsRejected() throws Exception {
		CompletableFuture<Answer> first = begin(this.client, "/gated");
		Answer second = send(this.client, "/gated");
		assertProblem(second, 409, "in-progress");
		assertThat(second.header("Retry-After")).isNotNull();
		openGate();
		assertReplayed(first.get(), send(this.client, "/gated"));
	}

	@Test
	void overlappingRequestWaits() throws Exception {
		int before = runs("waiting");
		CompletableFuture<Answer> first = begin(this.client, "/waiting");
		CompletableFuture<Answer> second = async(() -> send(this.client, "/waiting"));
		openGate();
		assertReplayed(first.get(), second.get());
		assertThat(runs("waiting")).isEqualTo(before + 1);
	}

	@Test
	void largeAnswerIsNotRepeated() {
		int before = runs("large");
		assertThat(send(this.client, "/large").body()).hasSizeGreaterThan(3 << 20);
		assertProblem(send(this.client, "/large"), 409, "result-unavailable");
		assertThat(runs("large")).isEqualTo(before + 1);
	}

	@Test
	void tokenIsAKeyOnce() {
		IssuedTokensTests.assertIsAKeyOnce(this.client, "/tokens/mono");
	}

	@Test
	void rejectedDuplicate() {
		assertThat(send(this.client, "/once").status()).isEqualTo(200);
		assertProblem(send(this.client, "/once"), 409, "duplicate");
	}

	@Test
	void failureFreesTheKey() {
		int before = runs("status-503");
		assertThat(send(this.client, "/status/503").status()).isEqualTo(503);
		assertThat(send(this.client, "/status/503").text()).doesNotContain("in-progress");
		assertThat(runs("status-503")).isEqualTo(before + 2);
	}

	/** Without their store some nodes reject all, and others run all unguarded. */
	@Test
	void policyDecidesWhileTheServerIsDown() throws Exception {
		Client guarded = client(impatient);
		Client unguarded = client(proceeding);
		List<String> paths = List.of("mono", "entity", "once", "by-argument", "slow");
		server.kill();
		try {
			Map<String, Integer> before = paths.stream()
				.collect(Collectors.toMap((path) -> path, OrdersController::runs));
			Map<String, CompletableFuture<Answer>> rejected = paths.stream()
				.collect(Collectors.toMap((path) -> path, (path) -> async(() -> send(guarded, "/" + path))));
			for (String path : paths) {
				Answer answer = rejected.get(path).get();
				assertProblem(answer, 503, "store-unavailable");
				assertThat(answer.header("Retry-After")).isNotNull();
				assertThat(runs(path)).as("nothing ran").isEqualTo(before.get(path));
			}
			for (String path : paths) {
				assertThat(send(unguarded, "/" + path).status()).as(path).isEqualTo(200);
				assertThat(send(unguarded, "/" + path).replayed()).isFalse();
				assertThat(runs(path)).as("each ran").isEqualTo(before.get(path) + 2);
			}
			assertProblem(send(unguarded, "/mono", "a,b"), 400, "key-invalid");
			// The guard inside of a route that runs unguarded asks for itself.
			assertProblem(send(unguarded, "/routes/inside-header"), 400, "key-missing");
			assertProblem(guarded.post("/idempotency/tokens", ""), 503, "store-unavailable");
		}
		finally {
			server.restart();
		}
		for (Client recovered : List.of(guarded, unguarded)) {
			await().until(() -> {
				String fresh = UUID.randomUUID().toString();
				return send(recovered, "/mono", fresh).status() == 200 && send(recovered, "/mono", fresh).replayed();
			});
		}
	}

	@Test
	void serverThatGoesAwayWhileTheHandlerRunsKeepsNobodyFromTheAnswer() throws Exception {
		int before = runs("gated");
		Client guarded = client(impatient);
		CompletableFuture<Answer> first = begin(guarded, "/gated");
		server.pause();
		try {
			openGate();
			assertThat(first.get().text()).isEqualTo("answer");
		}
		finally {
			server.resume();
		}
		Answer repeated = await().until(() -> send(guarded, "/gated"), Answer::replayed);
		assertThat(repeated.text()).isEqualTo("answer");
		assertThat(runs("gated")).isEqualTo(before + 1);
	}

}
