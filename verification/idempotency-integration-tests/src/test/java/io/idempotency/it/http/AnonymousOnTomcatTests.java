package io.idempotency.it.http;

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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two copies of a service with one store: one lets anonymous callers share their keys, as
 * it was before, and the other one refuses them.
 */
class AnonymousOnTomcatTests {

	private static final MemoryIdempotencyStore STORE = new MemoryIdempotencyStore(10_000_000);

	private static final AtomicInteger RUNS = new AtomicInteger();

	private static ConfigurableApplicationContext sharing;

	private static ConfigurableApplicationContext refusing;

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		sharing = start("share");
		refusing = start("refuse");
	}

	private static ConfigurableApplicationContext start(String anonymous) {
		return new SpringApplicationBuilder(Application.class)
			.properties("server.port=0", "idempotency.token.enabled=true", "idempotency.http.scope-headers=X-Tenant",
					"idempotency.http.anonymous=" + anonymous)
			.run();
	}

	@AfterAll
	static void stop() {
		sharing.close();
		refusing.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pay", "/pay/form", "/pay/resource" })
	void callWithoutACallerIsRefusedAndUsesNoKey(String path) {
		int runs = RUNS.get();
		assertRefused(send(refusing, path));
		assertThat(RUNS).hasValue(runs);
		Answer first = send(sharing, path);
		assertThat(first.status()).isEqualTo(200);
		assertThat(first.replayed()).isFalse();
	}

	/** The header says which tenant, and not who. */
	@Test
	void headerOfATenantIsNoCaller() {
		assertRefused(client(refusing).post("/pay", this.key, "application/json", "{}",
				(request) -> request.header("X-Tenant", "a")));
	}

	@Test
	void answerThatAnonymousCallersSharedIsNotReplayedToThemAnyMore() {
		Answer first = send(sharing, "/pay");
		assertThat(send(sharing, "/pay").replayed()).isTrue();
		for (int i = 0; i < 2; i++) {
			Answer refused = send(refusing, "/pay");
			assertRefused(refused);
			assertThat(refused.text()).doesNotContain(first.text());
		}
		assertThat(send(sharing, "/pay").text()).isEqualTo(first.text());
	}

	@Test
	void namedCallerIsGuardedAsEver() {
		Answer first = sendAs("alice");
		assertThat(first.status()).isEqualTo(200);
		assertThat(sendAs("alice").text()).isEqualTo(first.text());
		assertThat(sendAs("alice").replayed()).isTrue();
		assertRefused(send(refusing, "/pay"));
	}

	@Test
	void nobodyGetsATokenThatNobodyCouldUse() {
		assertRefused(send(refusing, "/idempotency/tokens"));
		assertThat(send(sharing, "/idempotency/tokens").status()).isEqualTo(201);
	}

	@Test
	void whatHasNoKeyOfACallerIsLeftAlone() {
		assertThat(send(refusing, "/scoped").status()).isEqualTo(200);
		assertThat(send(refusing, "/scoped").replayed()).isTrue();
		assertThat(send(refusing, "/condition").status()).isEqualTo(200);
		assertThat(client(refusing).send(client(refusing).to("/optional").POST(HttpRequest.BodyPublishers.noBody()))
			.status()).isEqualTo(200);
		assertRefused(send(refusing, "/optional"));
	}

	/** A door of its own, whose calls come from jobs and listeners, too. */
	@Test
	void methodBehindAnUnguardedHandlerIsLeftAlone() {
		Answer first = send(refusing, "/method");
		assertThat(first.status()).isEqualTo(200);
		assertThat(send(refusing, "/method").text()).isEqualTo(first.text());
	}

	private static void assertRefused(Answer answer) {
		assertThat(answer.status()).as("%s", answer).isEqualTo(401);
		assertThat(answer.replayed()).isFalse();
		assertThat(answer.text()).contains("\"type\":\"urn:idempotency:caller-unknown\"",
				"\"title\":\"Caller is unknown\"", "\"code\":\"caller-unknown\"", "\"retry\":\"fix-request\"");
	}

	private Answer send(ConfigurableApplicationContext context, String path) {
		boolean form = path.endsWith("form");
		return client(context).post(path, this.key, form ? "application/x-www-form-urlencoded" : "application/json",
				form ? "a=b" : "{}");
	}

	private Answer sendAs(String name) {
		return client(refusing).post("/pay", this.key, "application/json", "{}", Client.as(name));
	}

	private static Client client(ConfigurableApplicationContext context) {
		return new Client(Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port")));
	}

	@SpringBootConfiguration
	@EnableAutoConfiguration
	@Import({ Payments.class, Bookings.class })
	static class Application {

		@Bean(destroyMethod = "")
		IdempotencyStore store() {
			return STORE;
		}

		@Bean
		SecurityFilterChain open(HttpSecurity http) throws Exception {
			return http.csrf((csrf) -> csrf.disable())
				.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
				.httpBasic(Customizer.withDefaults())
				.build();
		}

		@Bean
		UserDetailsService users() {
			return new InMemoryUserDetailsManager(User.withUsername("alice").password("{noop}demo").build());
		}

	}

	@RestController
	static class Payments {

		private final Bookings bookings;

		Payments(Bookings bookings) {
			this.bookings = bookings;
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

		@PostMapping("/method")
		public String method() {
			return this.bookings.book();
		}

	}

	static class Bookings {

		@Idempotent(header = "Idempotency-Key", fingerprint = "none")
		public String book() {
			return "booked " + RUNS.incrementAndGet();
		}

	}

}
