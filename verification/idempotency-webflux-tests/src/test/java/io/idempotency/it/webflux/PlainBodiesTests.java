package io.idempotency.it.webflux;

import java.net.http.HttpRequest;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.IdempotencyMode;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.config.web.server.ServerHttpSecurity;
import org.springframework.security.web.server.SecurityWebFilterChain;
import org.springframework.web.bind.annotation.ModelAttribute;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestPart;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Handlers that return values, on whose way to the guard the body of the request is read:
 * it comes on a thread that knows no request.
 */
class PlainBodiesTests {

	private static final String JSON = "{\"item\":\"book\"}";

	private static final String PARTS = "--b\r\nContent-Disposition: form-data; name=\"item\"\r\n\r\nbook\r\n--b--\r\n";

	/** Bodies have more bytes than that: the guard is to look at none of them. */
	private static final ConfigurableApplicationContext APPLICATION = start("--server.port=0",
			"--idempotency.http.max-request-size=5B");

	private static final ConfigurableApplicationContext REFUSES_STRANGERS = start("--server.port=0",
			"--idempotency.http.anonymous=reject");

	private ConfigurableApplicationContext application = APPLICATION;

	private final AtomicInteger runs = APPLICATION.getBean(AtomicInteger.class);

	private final int before = this.runs.get();

	private static ConfigurableApplicationContext start(String... arguments) {
		return new SpringApplicationBuilder(Application.class).registerShutdownHook(false).run(arguments);
	}

	@AfterAll
	static void stop() {
		APPLICATION.close();
		REFUSES_STRANGERS.close();
	}

	private Answer send(String path, @Nullable String key) {
		if (path.endsWith("/form")) {
			return send(path, key, MediaType.APPLICATION_FORM_URLENCODED_VALUE, "item=book");
		}
		if (path.endsWith("/parts")) {
			return send(path, key, "multipart/form-data; boundary=b", PARTS);
		}
		return send(path, key, "application/json", JSON);
	}

	private Answer send(String path, @Nullable String key, String contentType, String body) {
		Client client = new Client(
				this.application.getEnvironment().getRequiredProperty("local.server.port", int.class));
		HttpRequest.Builder request = client.to(path)
			.header("Content-Type", contentType)
			.POST(HttpRequest.BodyPublishers.ofString(body));
		return client.send((key != null) ? request.header("Idempotency-Key", key) : request);
	}

	private int runs() {
		return this.runs.get() - this.before;
	}

	@ParameterizedTest
	@ValueSource(strings = { "value", "entity", "future", "nothing", "form", "parts" })
	void refusedBeforeTheBodyWasRead(String kind) {
		Answer missing = send("/guarded/" + kind, null);
		assertThat(missing.status()).isEqualTo(400);
		assertThat(missing.text()).contains("key-missing");
		Answer malformed = send("/guarded/" + kind, "x".repeat(2000));
		assertThat(malformed.status()).isEqualTo(400);
		assertThat(malformed.text()).contains("key-invalid");
		assertThat(runs()).isZero();
		this.application = REFUSES_STRANGERS;
		Answer unknown = send("/guarded/" + kind, UUID.randomUUID().toString());
		assertThat(unknown.status()).isEqualTo(401);
		assertThat(unknown.text()).contains("caller-unknown");
		assertThat(REFUSES_STRANGERS.getBean(AtomicInteger.class)).hasValue(0);
	}

	/** However large its body is, which the guard does not look at. */
	@ParameterizedTest
	@ValueSource(strings = { "value", "entity", "future", "nothing", "form", "parts" })
	void withoutAKeyThatIsNotRequired(String kind) {
		assertThat(send("/optional/" + kind, null).status()).isEqualTo(200);
		assertThat(send("/optional/" + kind, null).status()).isEqualTo(200);
		assertThat(runs()).isEqualTo(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "reject/value", "reject/entity", "reject/future", "reject/nothing", "reject/form",
			"reject/parts", "lock", "none" })
	void bodyThatNothingCompares(String path) {
		String key = UUID.randomUUID().toString();
		assertThat(send("/" + path, key).status()).isEqualTo(200);
		assertThat(runs()).isEqualTo(1);
		Answer repeated = send("/" + path, key);
		assertThat(runs()).isEqualTo(path.equals("lock") ? 2 : 1);
		assertThat(repeated.status()).isEqualTo(path.startsWith("reject") ? 409 : 200);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Payments.class)
	static class Application {

		@Bean
		AtomicInteger runs() {
			return new AtomicInteger();
		}

		@Bean
		SecurityWebFilterChain security(ServerHttpSecurity http) {
			return http.csrf(ServerHttpSecurity.CsrfSpec::disable).build();
		}

	}

	record Order(String item) {
	}

	@RestController
	static class Payments {

		private final AtomicInteger runs;

		Payments(AtomicInteger runs) {
			this.runs = runs;
		}

		private String pay(Order order) {
			return order.item() + " run " + this.runs.incrementAndGet();
		}

		@Idempotent
		@PostMapping("/guarded/value")
		public String value(@RequestBody Order order) {
			return pay(order);
		}

		@Idempotent
		@PostMapping("/guarded/entity")
		public ResponseEntity<String> entity(@RequestBody Order order) {
			return ResponseEntity.ok(pay(order));
		}

		@Idempotent
		@PostMapping("/guarded/future")
		public CompletableFuture<String> future(@RequestBody Order order) {
			return CompletableFuture.completedFuture(pay(order));
		}

		@Idempotent
		@PostMapping("/guarded/nothing")
		public void nothing(@RequestBody Order order) {
			pay(order);
		}

		@Idempotent
		@PostMapping("/guarded/form")
		public String form(@ModelAttribute Order order) {
			return pay(order);
		}

		@Idempotent
		@PostMapping("/guarded/parts")
		public String parts(@RequestPart String item) {
			return pay(new Order(item));
		}

		@Idempotent(required = false)
		@PostMapping("/optional/value")
		public String optionalValue(@RequestBody Order order) {
			return pay(order);
		}

		@Idempotent(required = false)
		@PostMapping("/optional/entity")
		public ResponseEntity<String> optionalEntity(@RequestBody Order order) {
			return ResponseEntity.ok(pay(order));
		}

		@Idempotent(required = false)
		@PostMapping("/optional/future")
		public CompletableFuture<String> optionalFuture(@RequestBody Order order) {
			return CompletableFuture.completedFuture(pay(order));
		}

		@Idempotent(required = false)
		@PostMapping("/optional/nothing")
		public void optionalNothing(@RequestBody Order order) {
			pay(order);
		}

		@Idempotent(required = false)
		@PostMapping("/optional/form")
		public String optionalForm(@ModelAttribute Order order) {
			return pay(order);
		}

		@Idempotent(required = false)
		@PostMapping("/optional/parts")
		public String optionalParts(@RequestPart String item) {
			return pay(new Order(item));
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/reject/value")
		public String rejectValue(@RequestBody Order order) {
			return pay(order);
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/reject/entity")
		public ResponseEntity<String> rejectEntity(@RequestBody Order order) {
			return ResponseEntity.ok(pay(order));
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/reject/future")
		public CompletableFuture<String> rejectFuture(@RequestBody Order order) {
			return CompletableFuture.completedFuture(pay(order));
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/reject/nothing")
		public void rejectNothing(@RequestBody Order order) {
			pay(order);
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/reject/form")
		public String rejectForm(@ModelAttribute Order order) {
			return pay(order);
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/reject/parts")
		public String rejectParts(@RequestPart String item) {
			return pay(new Order(item));
		}

		@Idempotent(mode = IdempotencyMode.LOCK)
		@PostMapping("/lock")
		public String lock(@RequestBody Order order) {
			return pay(order);
		}

		@Idempotent(fingerprint = "none")
		@PostMapping("/none")
		public String none(@RequestBody Order order) {
			return pay(order);
		}

	}

}
