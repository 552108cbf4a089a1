package io.idempotency.openapi;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.idempotency.AbandonedMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.IdempotencyWebAutoConfiguration;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.Operation;
import io.swagger.v3.oas.models.PathItem;
import io.swagger.v3.oas.models.Paths;
import io.swagger.v3.oas.models.media.Content;
import io.swagger.v3.oas.models.media.MediaType;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.parameters.HeaderParameter;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.oas.models.responses.ApiResponse;
import io.swagger.v3.oas.models.responses.ApiResponses;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springdoc.core.customizers.GlobalOperationCustomizer;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.mock.web.MockServletContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.method.HandlerMethod;

import static org.assertj.core.api.Assertions.assertThat;

class IdempotencyOpenApiAutoConfigurationTests {

	private static final AutoConfigurations CONFIGURATION = AutoConfigurations.of(
			DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class, JacksonAutoConfiguration.class,
			IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class,
			IdempotencyOpenApiAutoConfiguration.class);

	private static AnnotationConfigWebApplicationContext defaults;

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(CONFIGURATION);

	@BeforeAll
	static void startWithDefaults() {
		defaults = new AnnotationConfigWebApplicationContext();
		defaults.setServletContext(new MockServletContext());
		defaults.register(Calls.class, AllCalls.class);
		defaults.register(AutoConfigurations.getClasses(CONFIGURATION));
		TestPropertyValues.of("idempotency.token.enabled=true").applyTo(defaults.getEnvironment());
		defaults.refresh();
	}

	@AfterAll
	static void stop() {
		defaults.close();
	}

	@Test
	void whenSpringdocIsAbsentThenNothingIsLoaded() {
		this.runner.withClassLoader(new FilteredClassLoader("org.springdoc", "io.swagger"))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(IdempotencyOpenApiAutoConfiguration.class));
	}

	@ParameterizedTest
	@CsvSource({ "springdoc.api-docs.enabled=false", "idempotency.enabled=false" })
	void whenThereIsNoDocumentOrNoGuardThenNothingIsLoaded(String property) {
		this.runner.withPropertyValues(property)
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(IdempotencyOpenApiAutoConfiguration.class));
	}

	@Test
	void keyIsARequiredHeader() throws Exception {
		Parameter key = keyOf(complete(defaults, "plain"), "Idempotency-Key");
		assertThat(key.getRequired()).isTrue();
		assertThat(key.getSchema().getMinLength()).isEqualTo(1);
		assertThat(key.getSchema().getMaxLength()).isEqualTo(255);
		assertThat(key.getDescription()).contains("it receives the first response", "Choose a new key");
	}

	@Test
	void headerAndItsBoundAreThoseOfTheProperties() {
		this.runner.withBean(Calls.class)
			.withPropertyValues("idempotency.key.header=X-Request-Id", "idempotency.key.max-length=40",
					"idempotency.http.replayed-header=X-Again")
			.run((context) -> {
				Operation operation = complete(context, "plain");
				assertThat(keyOf(operation, "X-Request-Id").getSchema().getMaxLength()).isEqualTo(40);
				assertThat(operation.getResponses().get("201").getHeaders()).containsOnlyKeys("X-Again");
			});
	}

	@Test
	void optionalKeyIsNotRequired() throws Exception {
		Operation operation = complete(defaults, "optional");
		assertThat(keyOf(operation, "X-Call").getRequired()).isFalse();
		assertThat(operation.getResponses().get("400").getDescription()).contains("`key-invalid`")
			.doesNotContain("`key-missing`");
	}

	@Test
	void headerThatTheHandlerReadsItselfIsNotDocumentedTwice() throws Exception {
		Operation operation = operation();
		operation.addParametersItem(new HeaderParameter().name("idempotency-key").description("My own words."));
		complete(defaults, "plain", operation);
		assertThat(operation.getParameters()).singleElement()
			.extracting(Parameter::getDescription, InstanceOfAssertFactories.STRING)
			.startsWith("My own words.")
			.contains("it receives the first response");
	}

	@Test
	void keyInTheBodyIsDescribedAndHasNoParameter() throws Exception {
		Operation operation = complete(defaults, "token");
		assertThat(operation.getParameters()).isNull();
		assertThat(operation.getDescription()).contains("`/requestId` of its body", "`POST /idempotency/tokens`");
	}

	@Test
	void expressionOfAKeyIsNotShown() throws Exception {
		assertThat(complete(defaults, "expression").toString()).doesNotContain("#id");
	}

	@Test
	void onlyAnswersThatAreKeptMayBeReplays() throws Exception {
		Operation operation = operation();
		for (String status : new String[] { "303", "401", "404", "500", "default" }) {
			operation.getResponses().addApiResponse(status, new ApiResponse());
		}
		complete(defaults, "plain", operation);
		assertThat(operation.getResponses()).allSatisfy((status, response) -> {
			boolean marked = response.getHeaders() != null && response.getHeaders().containsKey("Idempotent-Replayed");
			assertThat(marked).as(status).isEqualTo(status.matches("201|303|404"));
		});
	}

	@ParameterizedTest
	@CsvSource({
			"plain,400 409 413 422 503,key-missing key-invalid in-progress result-unavailable body-too-large "
					+ "key-reused store-unavailable", //
			"optional,400 409 413 422 503,key-invalid in-progress result-unavailable body-too-large key-reused "
					+ "store-unavailable",
			"token,400 409 413 422 503,key-missing key-invalid token-unknown in-progress result-unavailable "
					+ "body-too-large key-reused store-unavailable",
			"expression,400 409 503,key-missing in-progress result-unavailable outcome-unknown store-unavailable",
			"rejected,400 409 503,key-missing key-invalid duplicate store-unavailable",
			"locked,400 409 413 503,key-missing key-invalid in-progress body-too-large store-unavailable" })
	void problemsAreThoseOfTheMode(String handler, String statuses, String codes) throws Exception {
		ApiResponses responses = complete(defaults, handler).getResponses();
		responses.remove("201");
		assertThat(responses).containsOnlyKeys(statuses.split(" "));
		String text = responses.values().stream().map(ApiResponse::getDescription).toList().toString();
		for (DocumentedProblem problem : DocumentedProblem.values()) {
			assertThat(text.contains("`" + problem.code() + "`")).as(problem.code())
				.isEqualTo(Arrays.asList(codes.split(" ")).contains(problem.code()));
		}
		assertThat(responses.values()).allSatisfy(
				(response) -> assertThat(response.getContent().get("application/problem+json").getSchema().get$ref())
					.isEqualTo("#/components/schemas/IdempotencyProblem"));
		assertThat(responses.get("503").getHeaders()).containsOnlyKeys("Retry-After");
	}

	@Test
	void whenCallsProceedWithoutAStoreThenNoneIsRejectedForIt() {
		this.runner.withBean(Calls.class)
			.withPropertyValues("idempotency.on-store-failure=proceed")
			.run((context) -> assertThat(complete(context, "plain").getResponses()).doesNotContainKey("503"));
	}

	@Test
	void whenAnonymousCallersAreRejectedThenThatIsAnAnswer() {
		this.runner.withBean(Calls.class)
			.withPropertyValues("idempotency.http.anonymous=reject")
			.run((context) -> assertThat(complete(context, "plain").getResponses().get("401").getDescription())
				.isEqualTo("`caller-unknown`: the request has no authenticated caller."));
	}

	@Test
	void whatTheApplicationDocumentsStays() throws Exception {
		Schema<Object> own = new Schema<>();
		ApiResponse shared = new ApiResponse().description("Mine.")
			.content(new Content().addMediaType("application/problem+json", new MediaType().schema(own)));
		Operation operation = operation();
		operation.getResponses().addApiResponse("422", shared);
		complete(defaults, "plain", operation);
		ApiResponse response = operation.getResponses().get("422");
		assertThat(response.getDescription()).startsWith("Mine.").contains("`key-reused`");
		assertThat(response.getContent().get("application/problem+json").getSchema()).isSameAs(own);
		assertThat(shared.getDescription()).as("shared with unguarded operations").isEqualTo("Mine.");
	}

	@Test
	void completingAgainChangesNothing() throws Exception {
		Operation operation = complete(defaults, "token");
		String once = operation.toString();
		complete(defaults, "token", operation);
		assertThat(operation).hasToString(once);
	}

	@ParameterizedTest
	@CsvSource({ "unguarded", "read" })
	void otherOperationsStayAsTheyAre(String handler) throws Exception {
		assertThat(complete(defaults, handler)).isEqualTo(operation());
	}

	@Test
	void readingHandlerWithItsOwnAnnotationIsGuarded() throws Exception {
		assertThat(complete(defaults, "guardedRead").getResponses()).containsKey("409");
	}

	@Test
	void documentHasWhatOperationsReferTo() throws Exception {
		OpenAPI document = new OpenAPI()
			.paths(new Paths().addPathItem("/orders", new PathItem().post(complete(defaults, "plain"))));
		defaults.getBean(SharedComponentsCustomizer.class).customise(document);
		Map<String, Schema> schemas = document.getComponents().getSchemas();
		assertThat(schemas).containsOnlyKeys("IdempotencyProblem");
		assertThat(schemas.get("IdempotencyProblem").getProperties()).containsOnlyKeys("type", "title", "status",
				"detail", "instance", "code", "retry", "attempts");
		assertThat(((Schema<?>) schemas.get("IdempotencyProblem").getProperties().get("retry")).getEnum())
			.isEqualTo(List.of("same-key", "new-key", "never", "fix-request"));
		assertThat(document.getComponents().getHeaders()).containsOnlyKeys("IdempotentReplayed",
				"IdempotencyRetryAfter");
		assertThat(document.getPaths().get("/idempotency/tokens").getPost().getResponses()).containsOnlyKeys("201",
				"503");
	}

	@Test
	void typesOfProblemsAreThoseOfTheProperty() {
		this.runner.withBean(Calls.class)
			.withPropertyValues("idempotency.http.problem-type-base=https://shop.example/errors/")
			.run((context) -> {
				OpenAPI document = new OpenAPI()
					.paths(new Paths().addPathItem("/orders", new PathItem().post(complete(context, "plain"))));
				context.getBean(SharedComponentsCustomizer.class).customise(document);
				Schema<?> problem = document.getComponents().getSchemas().get("IdempotencyProblem");
				assertThat(((Schema<?>) problem.getProperties().get("type")).getDescription())
					.isEqualTo("https://shop.example/errors/ and the code.");
			});
	}

	@Test
	void documentWithoutGuardedOperationsStaysAsItIs() throws Exception {
		OpenAPI document = new OpenAPI().paths(new Paths().addPathItem("/orders", new PathItem().post(operation())));
		defaults.getBean(SharedComponentsCustomizer.class).customise(document);
		assertThat(document.getComponents()).isNull();
		assertThat(document.getPaths()).containsOnlyKeys("/orders");
	}

	private static Operation operation() {
		return new Operation().responses(new ApiResponses().addApiResponse("201", new ApiResponse()));
	}

	private static Operation complete(BeanFactory context, String handler) throws Exception {
		return complete(context, handler, operation());
	}

	private static Operation complete(BeanFactory context, String handler, Operation operation) {
		Class<?> controller = handler.matches("read|guardedRead") ? AllCalls.class : Calls.class;
		Method method = Arrays.stream(controller.getMethods())
			.filter((candidate) -> candidate.getName().equals(handler))
			.findFirst()
			.orElseThrow();
		return context.getBean(GlobalOperationCustomizer.class)
			.customize(operation, new HandlerMethod(context.getBean(controller), method));
	}

	private static Parameter keyOf(Operation operation, String header) {
		assertThat(operation.getParameters()).singleElement().satisfies((parameter) -> {
			assertThat(parameter.getIn()).isEqualTo("header");
			assertThat(parameter.getName()).isEqualTo(header);
		});
		return operation.getParameters().get(0);
	}

	@RestController
	static class Calls {

		@Idempotent
		@PostMapping("/plain")
		public String plain() {
			return "plain";
		}

		@Idempotent(header = "X-Call", required = false)
		@PostMapping("/optional")
		public String optional() {
			return "optional";
		}

		@Idempotent(body = "/requestId", token = true)
		@PostMapping("/token")
		public String token() {
			return "token";
		}

		@Idempotent(key = "#id", fingerprint = "none", onAbandoned = AbandonedMode.REJECT)
		@PostMapping("/expression")
		public String expression(String id) {
			return id;
		}

		@Idempotent(mode = IdempotencyMode.REJECT)
		@PostMapping("/rejected")
		public String rejected() {
			return "rejected";
		}

		@Idempotent(mode = IdempotencyMode.LOCK, body = "/requestId")
		@PostMapping("/locked")
		public String locked() {
			return "locked";
		}

		@PostMapping("/unguarded")
		public String unguarded() {
			return "unguarded";
		}

	}

	@Idempotent
	@RestController
	static class AllCalls {

		@GetMapping("/read")
		public String read() {
			return "read";
		}

		@Idempotent
		@GetMapping("/guarded-read")
		public String guardedRead() {
			return "read";
		}

	}

}
