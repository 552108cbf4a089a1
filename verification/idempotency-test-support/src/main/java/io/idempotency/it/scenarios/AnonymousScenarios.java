package io.idempotency.it.scenarios;

import java.net.http.HttpRequest;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two copies of a service with one store: one lets anonymous callers share their keys, as
 * it was before, and the other one rejects them.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
public abstract class AnonymousScenarios {

	protected ConfigurableApplicationContext sharing;

	protected ConfigurableApplicationContext rejecting;

	private String key;

	/** Starts the application with these handlers, too. */
	protected abstract ConfigurableApplicationContext start(Class<?> handlers, String... properties);

	/** Returns the handlers, which differ where a stack needs another return type. */
	protected Class<?> handlers() {
		return Payments.class;
	}

	/** Returns the store of both applications. */
	public static IdempotencyStore sharedStore() {
		return Payments.STORE;
	}

	public static int run() {
		return Payments.RUNS.incrementAndGet();
	}

	@BeforeAll
	void start() {
		this.sharing = start("share");
		this.rejecting = start("reject");
	}

	private ConfigurableApplicationContext start(String anonymous) {
		return start(handlers(), "server.port=0", "idempotency.token.enabled=true",
				"idempotency.http.scope-headers=X-Tenant", "idempotency.http.anonymous=" + anonymous);
	}

	@AfterAll
	void stop() {
		this.sharing.close();
		this.rejecting.close();
	}

	@BeforeEach
	void anotherKey() {
		this.key = UUID.randomUUID().toString();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pay", "/pay/form", "/pay/resource" })
	void callWithoutACallerIsRejectedAndUsesNoKey(String path) {
		int runs = Payments.RUNS.get();
		assertRejected(send(this.rejecting, path));
		assertThat(Payments.RUNS).hasValue(runs);
		Answer first = send(this.sharing, path);
		assertThat(first.status()).isEqualTo(200);
		assertThat(first.replayed()).isFalse();
	}

	/** The header says which tenant, and not who. */
	@Test
	void headerOfATenantIsNoCaller() {
		assertRejected(client(this.rejecting).post("/pay", this.key, "application/json", "{}",
				(request) -> request.header("X-Tenant", "a")));
	}

	@Test
	void answerThatAnonymousCallersSharedIsNotReplayedToThemAnyMore() {
		Answer first = send(this.sharing, "/pay");
		assertThat(send(this.sharing, "/pay").replayed()).isTrue();
		for (int i = 0; i < 2; i++) {
			Answer rejected = send(this.rejecting, "/pay");
			assertRejected(rejected);
			assertThat(rejected.text()).doesNotContain(first.text());
		}
		assertThat(send(this.sharing, "/pay").text()).isEqualTo(first.text());
	}

	@Test
	void namedCallerIsGuardedAsEver() {
		Answer first = sendAs("alice", "/pay");
		assertThat(first.status()).isEqualTo(200);
		assertThat(sendAs("alice", "/pay").text()).isEqualTo(first.text());
		assertThat(sendAs("alice", "/pay").replayed()).isTrue();
		assertRejected(send(this.rejecting, "/pay"));
	}

	@Test
	void nobodyGetsATokenThatNobodyCouldUse() {
		assertRejected(send(this.rejecting, "/idempotency/tokens"));
		assertThat(send(this.sharing, "/idempotency/tokens").status()).isEqualTo(201);
	}

	@Test
	void whatHasNoKeyOfACallerIsLeftAlone() {
		assertThat(send(this.rejecting, "/scoped").status()).isEqualTo(200);
		assertThat(send(this.rejecting, "/scoped").replayed()).isTrue();
		assertThat(send(this.rejecting, "/condition").status()).isEqualTo(200);
		Client client = client(this.rejecting);
		assertThat(client.send(client.to("/optional").POST(HttpRequest.BodyPublishers.noBody())).status())
			.isEqualTo(200);
		assertRejected(send(this.rejecting, "/optional"));
	}

	protected static void assertRejected(Answer answer) {
		assertThat(answer.status()).as("%s", answer).isEqualTo(401);
		assertThat(answer.replayed()).isFalse();
		assertThat(answer.text()).contains("\"type\":\"urn:idempotency:caller-unknown\"",
				"\"title\":\"Caller is unknown\"", "\"code\":\"caller-unknown\"", "\"retry\":\"fix-request\"");
	}

	protected Answer send(ConfigurableApplicationContext context, String path) {
		boolean form = path.endsWith("form");
		return client(context).post(path, this.key, form ? "application/x-www-form-urlencoded" : "application/json",
				form ? "a=b" : "{}");
	}

	protected Answer sendAs(String name, String path) {
		return client(this.rejecting).post(path, this.key, "application/json", "{}", Client.as(name));
	}

	private static Client client(ConfigurableApplicationContext context) {
		return new Client(Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port")));
	}

	/** Handlers for all stacks, and the one store. */
	@RestController
	static class Payments {

		static final AtomicInteger RUNS = new AtomicInteger();

		private static final MemoryIdempotencyStore STORE = new MemoryIdempotencyStore(10_000_000);

		@Bean(destroyMethod = "")
		static IdempotencyStore store() {
			return STORE;
		}

		@PostMapping("/pay")
		@Idempotent
		public String pay(@RequestBody String body) {
			return "run " + RUNS.incrementAndGet();
		}

		@PostMapping("/pay/form")
		@Idempotent
		public String form(String a) {
			return "run " + RUNS.incrementAndGet();
		}

		@PostMapping("/pay/resource")
		@Idempotent(key = "header('Idempotency-Key')")
		public String resource() {
			return "run " + RUNS.incrementAndGet();
		}

		@PostMapping("/scoped")
		@Idempotent(scope = "'everybody'")
		public String scoped() {
			return "scoped";
		}

		@PostMapping("/condition")
		@Idempotent(condition = "false")
		public String condition() {
			return "unguarded";
		}

		@PostMapping("/optional")
		@Idempotent(required = false)
		public String optional() {
			return "optional";
		}

	}

}
