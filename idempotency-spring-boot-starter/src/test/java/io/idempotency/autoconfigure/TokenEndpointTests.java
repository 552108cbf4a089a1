package io.idempotency.autoconfigure;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.IdempotencyTokens;
import io.idempotency.Idempotent;
import io.idempotency.IssuedToken;
import io.idempotency.key.IdempotencyKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.error.ErrorMvcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.context.ServerPortInfoApplicationContextInitializer;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

import static org.assertj.core.api.Assertions.assertThat;

/** On a real Tomcat. */
class TokenEndpointTests {

	private static final String PATH = "/idempotency/tokens";

	private final WebApplicationContextRunner withoutJackson = new WebApplicationContextRunner(
			AnnotationConfigServletWebServerApplicationContext::new)
		.withConfiguration(AutoConfigurations.of(ServletWebServerFactoryAutoConfiguration.class,
				DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class,
				HttpMessageConvertersAutoConfiguration.class, ErrorMvcAutoConfiguration.class,
				IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class))
		.withInitializer(new ServerPortInfoApplicationContextInitializer())
		.withPropertyValues("server.port=0", "idempotency.token.enabled=true")
		.withBean(Forms.class);

	private final WebApplicationContextRunner runner = this.withoutJackson
		.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class));

	@Test
	void postGivesATokenAndItsExpiry() {
		this.runner.withPropertyValues("idempotency.token.ttl=1d").run((context) -> {
			Instant before = Instant.now();
			HttpResponse<String> response = new Browser(context).post(PATH, null, "");
			assertThat(response.statusCode()).isEqualTo(201);
			assertThat(response.headers().firstValue("Content-Type")).hasValue("application/json");
			assertThat(response.headers().allValues("Cache-Control")).containsExactly("no-store");
			JsonNode body = new ObjectMapper().readTree(response.body());
			assertThat(body.fieldNames()).toIterable().containsExactly("token", "expiresAt");
			assertThat(body.get("token").textValue()).matches("[A-Za-z0-9_-]{22,}");
			Duration timeToLive = Duration.between(before, Instant.parse(body.get("expiresAt").textValue()));
			assertThat(timeToLive).isBetween(Duration.ofHours(23), Duration.ofHours(25));
		});
	}

	@Test
	void tokenIsAKeyOnce() {
		this.runner.run(this::assertTokenIsAKeyOnce);
	}

	@Test
	void neitherJacksonNorAMessageConverterIsNeeded() {
		this.withoutJackson.withClassLoader(new FilteredClassLoader("com.fasterxml.jackson", "tools.jackson"))
			.run(this::assertTokenIsAKeyOnce);
	}

	@Test
	void whenBeansAreMadeLazilyThenTheEndpointIsThere() {
		this.runner.withPropertyValues("spring.main.lazy-initialization=true").run(this::assertTokenIsAKeyOnce);
	}

	@ParameterizedTest
	@ValueSource(strings = { "idempotency.token.enabled=false", "idempotency.enabled=false",
			"idempotency.token.path=/elsewhere" })
	void withoutTheEndpointThereIsNothingAtItsPath(String property) {
		this.runner.withPropertyValues(property)
			.run((context) -> assertThat(new Browser(context).post(PATH, null, "").statusCode()).isEqualTo(404));
	}

	@Test
	void tokensThatTheApplicationIssuesItselfNeedNoEndpoint() {
		this.runner.withPropertyValues("idempotency.token.enabled=false").run((context) -> {
			Browser browser = new Browser(context);
			String token = browser.post("/forms/open", null, "").body();
			assertThat(browser.post("/forms", token, "").body()).isEqualTo("sent 1");
			assertThat(browser.post("/forms", token, "").body()).isEqualTo("sent 1");
		});
	}

	@Test
	void pathIsThatOfThePropertyWhateverTheApplicationPutsBeforeItsControllers() {
		this.runner.withBean(Prefix.class)
			.withPropertyValues("idempotency.token.path=/elsewhere/tokens", "server.servlet.context-path=/shop")
			.run((context) -> {
				assertThat(new Browser(context).post("/shop/elsewhere/tokens", null, "").statusCode()).isEqualTo(201);
				assertThat(new Browser(context).post("/shop/api/forms/open", null, "").statusCode()).isEqualTo(200);
			});
	}

	@Test
	void otherMethodsAreNotAllowed() {
		this.runner.run((context) -> {
			HttpResponse<String> response = get(context, PATH);
			assertThat(response.statusCode()).isEqualTo(405);
			assertThat(response.headers().firstValue("Allow")).hasValue("POST");
		});
	}

	@ParameterizedTest
	@ValueSource(classes = { OwnPost.class, OwnAnyMethod.class })
	@ExtendWith(OutputCaptureExtension.class)
	void ownHandlerOfTheApplicationWins(Class<?> own, CapturedOutput output) {
		this.runner.withBean(own).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(new Browser(context).post(PATH, null, "").body()).isEqualTo("own");
			assertThat(output).contains("Tokens are not issued at '" + PATH + "'")
				.contains(own.getSimpleName())
				.contains("idempotency.token.path");
		});
	}

	@Test
	void ownHandlersOfOtherMethodsAndOfPatternsStandBesideIt() {
		this.runner.withBean(OwnOthers.class).run((context) -> {
			assertTokenIsAKeyOnce(context);
			assertThat(get(context, PATH).body()).isEqualTo("own get");
			assertThat(new Browser(context).post("/idempotency/others", null, "").body()).isEqualTo("own others");
		});
	}

	@Test
	void bodyAdviceOfTheApplicationLeavesTheTokenAlone() {
		this.runner.withBean(WrapEverything.class).run((context) -> {
			HttpResponse<String> response = new Browser(context).post(PATH, null, "");
			assertThat(response.statusCode()).isEqualTo(201);
			assertThat(response.body()).startsWith("{\"token\":\"");
		});
	}

	@Test
	void storeThatCannotKeepATokenIsAProblem() {
		this.runner.withBean("idempotencyStore", DeadStore.class).run((context) -> {
			HttpResponse<String> response = new Browser(context).post(PATH, null, "");
			assertThat(response.statusCode()).isEqualTo(503);
			assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
			assertThat(response.headers().firstValue("Retry-After")).hasValue("1");
			assertThat(response.body()).contains("\"code\":\"store-unavailable\"");
		});
	}

	@Test
	void tokensOfTheApplicationAreHandedOut() {
		Instant expiry = Instant.parse("2030-01-02T03:04:05Z");
		this.runner.withBean(IdempotencyTokens.class, () -> () -> new IssuedToken("own\"token", expiry))
			.run((context) -> assertThat(new Browser(context).post(PATH, null, "").body())
				.isEqualTo("{\"token\":\"own\\\"token\",\"expiresAt\":\"2030-01-02T03:04:05Z\"}"));
	}

	private void assertTokenIsAKeyOnce(AssertableWebApplicationContext context) {
		Browser browser = new Browser(context);
		String token = browser.post(PATH, null, "").body().replaceFirst("\\{\"token\":\"([^\"]+)\".*", "$1");
		assertThat(browser.post("/forms", token, "").body()).isEqualTo("sent 1");
		HttpResponse<String> duplicate = browser.post("/forms", token, "");
		assertThat(duplicate.body()).isEqualTo("sent 1");
		assertThat(duplicate.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		HttpResponse<String> unknown = browser.post("/forms", "made-up", "");
		assertThat(unknown.statusCode()).isEqualTo(400);
		assertThat(unknown.body()).contains("\"code\":\"token-unknown\"");
	}

	private static HttpResponse<String> get(AssertableWebApplicationContext context, String path)
			throws IOException, InterruptedException {
		String port = context.getEnvironment().getProperty("local.server.port");
		return HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(URI.create("http://localhost:" + port + path)).build(),
					HttpResponse.BodyHandlers.ofString());
	}

	/** Public, because a filtered class loader defines its proxy. */
	@RestController
	public static class Forms {

		private final ObjectProvider<IdempotencyTokens> tokens;

		private int sent;

		public Forms(ObjectProvider<IdempotencyTokens> tokens) {
			this.tokens = tokens;
		}

		@PostMapping("/forms/open")
		public String open() {
			return this.tokens.getObject().issue().token();
		}

		@PostMapping("/forms")
		@Idempotent(token = true)
		public String send() {
			this.sent++;
			return "sent " + this.sent;
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
	static class OwnAnyMethod {

		@RequestMapping(PATH)
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

		@PostMapping("/idempotency/{what}")
		String pattern() {
			return "own others";
		}

		@RequestMapping("/**")
		String everything() {
			return "own everything";
		}

	}

	static class Prefix implements WebMvcConfigurer {

		@Override
		public void configurePathMatch(PathMatchConfigurer configurer) {
			configurer.addPathPrefix("/api", (type) -> true);
		}

	}

	@ControllerAdvice
	static class WrapEverything implements ResponseBodyAdvice<Object> {

		@Override
		public boolean supports(MethodParameter type, Class<? extends HttpMessageConverter<?>> converter) {
			return true;
		}

		@Override
		public Object beforeBodyWrite(@Nullable Object body, MethodParameter type, MediaType mediaType,
				Class<? extends HttpMessageConverter<?>> converter, ServerHttpRequest request,
				ServerHttpResponse response) {
			return Map.of("data", String.valueOf(body));
		}

	}

	static class DeadStore extends RecordingStore {

		@Override
		public Instant issue(IdempotencyKey token, Duration timeToLive) {
			throw new IllegalStateException("down");
		}

	}

}
