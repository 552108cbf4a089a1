package io.idempotency.it.webflux;

import java.net.http.HttpRequest;
import java.time.Duration;
import java.time.Instant;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.IdempotencyException;
import io.idempotency.IssuedToken;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

import static org.assertj.core.api.Assertions.assertThat;

/** Tokens that are issued to the callers of WebFlux, on Netty. */
@SpringBootTest(classes = { WebFluxApplication.class, TokensController.class },
		webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "idempotency.token.enabled=true", "idempotency.token.ttl=1d" })
@ExtendWith(OutputCaptureExtension.class)
class IssuedTokensTests {

	private static final String PATH = "/idempotency/tokens";

	private static final Pattern BODY = Pattern
		.compile("\\{\"token\":\"([A-Za-z0-9_-]{32})\",\"expiresAt\":\"([^\"]+)\"}");

	private static final Consumer<HttpRequest.Builder> NOBODY = (request) -> {
	};

	@Value("${local.server.port}")
	private int port;

	static String issue(Client client, Consumer<HttpRequest.Builder> caller) {
		Matcher body = BODY.matcher(client.post(PATH, "", "text/plain", "", caller).text());
		assertThat(body.matches()).isTrue();
		return body.group(1);
	}

	/** Uses a token twice, and one that nobody has issued. */
	static void assertIsAKeyOnce(Client client, String path) {
		String token = issue(client, NOBODY);
		Answer first = client.post(path, token);
		Answer second = client.post(path, token);
		assertThat(first.status()).as(first.text()).isEqualTo(200);
		assertThat(first.replayed()).isFalse();
		assertThat(second.replayed()).isTrue();
		assertThat(second.text()).isEqualTo(first.text());
		assertProblem(client.post(path, "made-up"), 400, "token-unknown");
	}

	private static void assertProblem(Answer answer, int status, String code) {
		assertThat(answer.status()).as(answer.text()).isEqualTo(status);
		assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
		assertThat(answer.text()).contains("\"code\":\"" + code + "\"");
	}

	private static ConfigurableApplicationContext start(Class<?> more, String... properties) {
		return new SpringApplicationBuilder(WebFluxApplication.class, TokensController.class, more)
			.registerShutdownHook(false)
			.properties("server.port=0", "idempotency.token.enabled=true")
			.properties(properties)
			.run();
	}

	static Client client(ConfigurableApplicationContext application) {
		return new Client(application.getEnvironment().getRequiredProperty("local.server.port", int.class));
	}

	@Test
	void postGivesATokenAndItsExpiry() {
		Instant before = Instant.now();
		Answer answer = new Client(this.port).post(PATH, "");
		assertThat(answer.status()).isEqualTo(201);
		assertThat(answer.header("Content-Type")).isEqualTo("application/json");
		assertThat(answer.header("Cache-Control")).isEqualTo("no-store");
		Matcher body = BODY.matcher(answer.text());
		assertThat(body.matches()).as(answer.text()).isTrue();
		assertThat(Duration.between(before, Instant.parse(body.group(2)))).isBetween(Duration.ofHours(23),
				Duration.ofHours(25));
	}

	@ParameterizedTest
	@ValueSource(strings = { "/tokens/mono", "/tokens/plain" })
	void tokenIsAKeyOnce(String path) {
		assertIsAKeyOnce(new Client(this.port), path);
	}

	@Test
	void otherMethodsAreNotAllowed() {
		Client client = new Client(this.port);
		assertThat(client.send(client.to(PATH)).status()).isEqualTo(405);
	}

	@Test
	void pathIsThatOfTheProperty() {
		try (ConfigurableApplicationContext application = start(TokensController.class,
				"idempotency.token.path=/elsewhere/tokens", "spring.webflux.base-path=/shop",
				"spring.main.lazy-initialization=true")) {
			Client client = client(application);
			assertThat(client.post("/shop/elsewhere/tokens", "").status()).isEqualTo(201);
			assertThat(client.post("/shop" + PATH, "").status()).isEqualTo(404);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotency.token.enabled=false", "idempotency.enabled=false" })
	void withoutTheEndpointTheApplicationIssuesItsOwn(String property) {
		try (ConfigurableApplicationContext application = start(TokensController.class, property)) {
			Client client = client(application);
			assertThat(client.post(PATH, "").status()).isEqualTo(404);
			String token = client.post("/tokens/open", "").text();
			assertThat(client.post("/tokens/mono", token).status()).isEqualTo(200);
			assertThat(client.post("/tokens/mono", token).replayed()).isEqualTo(!property.startsWith("idempotency.en"));
		}
	}

	@Test
	void ownHandlerOfTheApplicationWins(CapturedOutput output) {
		try (ConfigurableApplicationContext application = start(OwnPost.class)) {
			assertThat(client(application).post(PATH, "").text()).isEqualTo("own");
			assertThat(output).contains("Tokens are not issued at '" + PATH + "'").contains("OwnPost");
		}
	}

	@Test
	void ownHandlersOfOtherMethodsStandBesideIt() {
		try (ConfigurableApplicationContext application = start(OwnOthers.class)) {
			Client client = client(application);
			assertThat(client.send(client.to(PATH)).text()).isEqualTo("own get");
			assertIsAKeyOnce(client, "/tokens/mono");
		}
	}

	@Test
	void tokensOfTheApplicationAreHandedOutAndItsHandlerSeesRejections() {
		try (ConfigurableApplicationContext application = start(OwnTokens.class)) {
			Client client = client(application);
			assertThat(client.post(PATH, "", "text/plain", "", Client.as("ada", "ada")).text())
				.isEqualTo("{\"token\":\"own\\\"token\",\"expiresAt\":\"2030-01-02T03:04:05Z\"}");
			assertThat(client.post(PATH, "").text()).isEqualTo("own caller-unknown");
		}
	}

	@RestController
	static class OwnPost {

		@PostMapping(PATH)
		String own() {
			return "own";
		}

	}

	@RestController
	static class OwnOthers {

		@GetMapping(PATH)
		String get() {
			return "own get";
		}

	}

	@RestControllerAdvice
	static class OwnTokens {

		@Bean
		ReactiveIdempotencyTokens tokens() {
			return (exchange) -> exchange.getPrincipal()
				.filter((caller) -> !caller.getName().startsWith("anonymous"))
				.switchIfEmpty(Mono.error(() -> new IdempotencyCallerUnknownException("token")))
				.map((caller) -> new IssuedToken("own\"token", Instant.parse("2030-01-02T03:04:05Z")));
		}

		@ExceptionHandler
		ResponseEntity<String> rejected(IdempotencyException rejection) {
			return ResponseEntity.status(rejection.status()).body("own " + rejection.code());
		}

	}

}
