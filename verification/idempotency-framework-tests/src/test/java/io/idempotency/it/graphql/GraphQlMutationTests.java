package io.idempotency.it.graphql;

import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import io.idempotency.it.graphql.GraphQlApplication.Cart;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.graphql.ExecutionGraphQlService;
import org.springframework.graphql.server.GraphQlRSocketHandler;

import static org.assertj.core.api.Assertions.assertThat;

/** Mutations over HTTP: what runs once, and what a rejected client is told. */
class GraphQlMutationTests {

	private static final String ADD = "mutation { addItem(sku: \"%s\", quantity: %d) }";

	private static ConfigurableApplicationContext application;

	private static URI endpoint;

	private final HttpClient client = HttpClient.newHttpClient();

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = start("share");
		endpoint = endpoint(application);
	}

	private static ConfigurableApplicationContext start(String anonymous) {
		return new SpringApplicationBuilder(GraphQlApplication.class).run("--spring.main.web-application-type=servlet",
				"--server.port=0", "--spring.graphql.schema.locations=classpath:graphql-shop/",
				"--idempotency.store=memory", "--spring.datasource.url=jdbc:h2:mem:graphql-" + anonymous,
				"--idempotency.http.scope-headers=X-Tenant", "--idempotency.token.enabled=true",
				"--idempotency.http.anonymous=" + anonymous);
	}

	private static URI endpoint(ConfigurableApplicationContext application) {
		return URI
			.create("http://localhost:" + application.getEnvironment().getProperty("local.server.port") + "/graphql");
	}

	@AfterAll
	static void stop() {
		application.close();
	}

	@BeforeEach
	void reset() {
		Cart.additions.set(0);
	}

	@Test
	void aRepeatedMutationGetsTheFirstAnswer() throws Exception {
		assertThat(data(send(ADD.formatted("apple", 1), this.key), "addItem")).isEqualTo("1 apple, addition 1");
		assertThat(data(send(ADD.formatted("apple", 1), this.key), "addItem")).isEqualTo("1 apple, addition 1");
		assertThat(Cart.additions).hasValue(1);
	}

	@Test
	void eachMutationOfADocumentIsAnOperationOfItsOwnUnderOneHeader() throws Exception {
		String document = "mutation { a: addItem(sku: \"apple\") b: addItem(sku: \"apple\") remove(sku: \"apple\") }";
		for (int i = 0; i < 2; i++) {
			DocumentContext answer = send(document, this.key);
			assertThat(data(answer, "a")).isEqualTo("1 apple, addition 1");
			assertThat(data(answer, "b")).isEqualTo("1 apple, addition 2");
			assertThat(data(answer, "remove")).isEqualTo("apple, addition 3");
		}
		assertThat(Cart.additions).hasValue(3);
	}

	@Test
	void theArgumentsOfAMutationAreCompared() throws Exception {
		send("mutation { a: addItem(sku: \"apple\") b: addItem(sku: \"pear\") }", this.key);
		DocumentContext answer = send("mutation { a: addItem(sku: \"apple\") b: addItem(sku: \"plum\") }", this.key);
		assertRejection(answer, "key-reused", "BAD_REQUEST", "new-key");
		assertThat(answer.<String>read("$.errors[0].path[0]")).isEqualTo("b");
		assertThat(data(answer, "a")).isEqualTo("1 apple, addition 1");
		assertThat(Cart.additions).hasValue(2);
	}

	@Test
	void argumentsAreComparedByTheirValue() throws Exception {
		send("mutation { addItem(sku: \"apple\") }", this.key);
		for (String same : List.of("{\"query\": \"mutation { addItem(quantity: 1, sku: \\\"apple\\\") }\"}",
				"{\"query\": \"mutation Add($sku: String!, $count: Int!) { addItem(sku: $sku, quantity: $count) }\","
						+ "\"variables\": {\"count\": 1, \"sku\": \"apple\"}, \"operationName\": \"Add\"}")) {
			assertThat(data(post(same, this.key), "addItem")).isEqualTo("1 apple, addition 1");
		}
		assertThat(Cart.additions).hasValue(1);
	}

	@Test
	void theArgumentsOfTheFieldsAroundAreCompared() throws Exception {
		String document = "mutation { cart(id: %d) { empty } }";
		assertThat(data(send(document.formatted(1), this.key), "cart.empty")).isEqualTo("cart 1, addition 1");
		assertThat(data(send(document.formatted(1), this.key), "cart.empty")).isEqualTo("cart 1, addition 1");
		assertRejection(send(document.formatted(2), this.key), "key-reused", "BAD_REQUEST", "new-key");
		assertThat(Cart.additions).hasValue(1);
	}

	@Test
	void aDirectiveGivesEachMutationItsKey() throws Exception {
		String document = "mutation { %1$s1: addItem(sku: \"apple\") @idempotent(key: \"%2$s-1\") "
				+ "%1$s2: addItem(sku: \"apple\") @idempotent(key: \"%2$s-2\") }";
		for (String alias : List.of("first", "again")) {
			DocumentContext answer = send(document.formatted(alias, this.key), "of the document");
			assertThat(data(answer, alias + "1")).isEqualTo("1 apple, addition 1");
			assertThat(data(answer, alias + "2")).isEqualTo("1 apple, addition 2");
		}
		assertRejection(send("mutation { addItem(sku: \"pear\") @idempotent(key: \"" + this.key + "-2\") }", null),
				"key-reused", "BAD_REQUEST", "new-key");
		assertRejection(send("mutation { addItem(sku: \"pear\") @idempotent(key: \"\") }", this.key), "key-invalid",
				"BAD_REQUEST", "new-key");
		assertThat(Cart.additions).hasValue(2);
	}

	@Test
	void aFieldOfTheInputIsAKeyOfTheCaller() throws Exception {
		String document = "mutation { pay(input: {clientMutationId: \"" + this.key + "\", cents: %d}) }";
		for (int i = 0; i < 2; i++) {
			assertThat(data(send(document.formatted(5), null), "pay")).isEqualTo("5 cents, addition 1");
		}
		assertRejection(send(document.formatted(6), null), "key-reused", "BAD_REQUEST", "new-key");
		assertThat(data(send(document.formatted(6), null, "X-Tenant", "other"), "pay"))
			.isEqualTo("6 cents, addition 2");
		assertRejection(send("mutation { pay(input: {cents: 5}) }", this.key), "key-missing", "BAD_REQUEST",
				"fix-request");
		assertThat(Cart.additions).hasValue(2);
	}

	@Test
	void aTokenIsForOneMutationOfADocument() throws Exception {
		String token = token();
		String document = "mutation { a: checkOut(sku: \"apple\") b: checkOut(sku: \"apple\") }";
		for (int i = 0; i < 2; i++) {
			DocumentContext answer = send(document, token);
			assertThat(data(answer, "a")).isEqualTo("apple, addition 1");
			assertRejection(answer, "key-reused", "BAD_REQUEST", "new-key");
		}
		assertRejection(send(document, this.key), "token-unknown", "BAD_REQUEST", "new-key");
		String directive = "mutation { %s: checkOut(sku: \"apple\") @idempotent(key: \"" + token() + "\") }";
		assertThat(data(send(directive.formatted("a"), null), "a")).isEqualTo("apple, addition 2");
		assertThat(data(send(directive.formatted("b"), null), "b")).isEqualTo("apple, addition 2");
	}

	private String token() throws Exception {
		HttpResponse<String> issued = this.client.send(request(endpoint.resolve("/idempotency/tokens"), "", null),
				HttpResponse.BodyHandlers.ofString());
		return JsonPath.parse(issued.body()).read("$.token");
	}

	@Test
	void aMutationOnAnotherThreadHasItsKeyItsCallerAndItsArguments() throws Exception {
		String document = "mutation { a: elsewhere(sku: \"apple\") b: elsewhere(sku: \"apple\") }";
		for (int i = 0; i < 2; i++) {
			DocumentContext answer = send(document, this.key);
			assertThat(data(answer, "a")).isEqualTo("apple on elsewhere-, addition 1");
			assertThat(data(answer, "b")).isEqualTo("apple on elsewhere-, addition 2");
		}
		assertThat(data(send(document, this.key, "X-Tenant", "other"), "b"))
			.isEqualTo("apple on elsewhere-, addition 4");
		assertRejection(send(document.replace("apple", "pear"), this.key), "key-reused", "BAD_REQUEST", "new-key");
		assertThat(Cart.additions).hasValue(4);
	}

	@Test
	void aBatchOfDocumentsRunsEachMutationOnce() throws Exception {
		String batch = "[{\"query\": \"mutation { addItem(sku: \\\"apple\\\") elsewhere(sku: \\\"apple\\\") }\"}, "
				+ "{\"query\": \"mutation { addItem(sku: \\\"pear\\\") }\"}]";
		String first = body(endpoint.resolve("/graphql/batch"), batch, this.key);
		assertThat(first).contains("1 apple, addition").contains("apple on elsewhere-, addition").contains("1 pear, ");
		assertThat(body(endpoint.resolve("/graphql/batch"), batch, this.key)).isEqualTo(first);
		assertThat(Cart.additions).hasValue(3);
	}

	@Test
	void aDocumentIsRepeatedAfterItsAnswerWasLost() throws Exception {
		Cart.entered = new CountDownLatch(1);
		Cart.gate = new CountDownLatch(1);
		byte[] body = json("mutation { addItem(sku: \"apple\") slow }").getBytes(StandardCharsets.UTF_8);
		try (Socket socket = new Socket("localhost", endpoint.getPort())) {
			OutputStream request = socket.getOutputStream();
			request.write(
					("POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nIdempotency-Key: "
							+ this.key + "\r\nContent-Length: " + body.length + "\r\n\r\n")
						.getBytes(StandardCharsets.US_ASCII));
			request.write(body);
			request.flush();
			assertThat(Cart.entered.await(60, TimeUnit.SECONDS)).isTrue();
		}
		Cart.gate.countDown();
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
			DocumentContext answer = send("mutation { addItem(sku: \"apple\") slow }", this.key);
			assertThat(data(answer, "addItem")).isEqualTo("1 apple, addition 1");
			assertThat(data(answer, "slow")).isEqualTo("addition 2");
		});
		assertThat(Cart.additions).hasValue(2);
	}

	@Test
	void ofTwoDocumentsAtOnceOneRuns() throws Exception {
		String document = "mutation { addItem(sku: \"apple\") later(sku: \"apple\") elsewhere(sku: \"apple\") }";
		List<CompletableFuture<HttpResponse<String>>> answers = Stream.generate(() -> request(json(document), this.key))
			.limit(8)
			.map((request) -> this.client.sendAsync(request, HttpResponse.BodyHandlers.ofString()))
			.toList();
		for (CompletableFuture<HttpResponse<String>> answer : answers) {
			DocumentContext read = JsonPath.parse(answer.get(60, TimeUnit.SECONDS).body());
			assertThat(read.<List<String>>read("$..extensions.code")).as(read.jsonString())
				.allMatch("in-progress"::equals)
				.hasSize((int) Stream.of("addItem", "later", "elsewhere")
					.filter((name) -> data(read, name) == null)
					.count());
		}
		Awaitility.await().atMost(Duration.ofSeconds(60)).untilAsserted(() -> {
			DocumentContext answer = send(document, this.key);
			assertThat(answer.<List<String>>read("$.data[*]")).as(answer.jsonString()).doesNotContainNull();
		});
		assertThat(Cart.additions).hasValue(3);
	}

	@Test
	void ofADocumentThatFailedInPartTheRestRuns() throws Exception {
		String document = "mutation { addItem(sku: \"apple\") flaky }";
		DocumentContext first = send(document, this.key);
		assertThat(data(first, "addItem")).isEqualTo("1 apple, addition 1");
		assertThat(data(first, "flaky")).isNull();
		DocumentContext second = send(document, this.key);
		assertThat(data(second, "addItem")).isEqualTo("1 apple, addition 1");
		assertThat(data(second, "flaky")).isEqualTo("addition 3");
		assertThat(Cart.additions).hasValue(3);
	}

	@Test
	void anAnnotationOfTheClassGuardsItsMutations() throws Exception {
		String mutation = "mutation { note cart(id: 1) { notes } }";
		DocumentContext first = send(mutation, this.key);
		assertThat(data(first, "cart.notes")).isEqualTo("of cart 1");
		String query = data(send("{ notes }", this.key), "notes");
		assertThat(data(send("{ notes }", this.key), "notes")).startsWith("call ").isNotEqualTo(query);
		assertThat(data(send(mutation, this.key), "note")).isEqualTo(data(first, "note"));
	}

	@Test
	void nullIsAResult() throws Exception {
		for (int i = 0; i < 2; i++) {
			DocumentContext answer = send("mutation { nothing }", this.key);
			assertThat(answer.jsonString()).doesNotContain("errors");
			assertThat(data(answer, "nothing")).isNull();
		}
		assertThat(Cart.additions).hasValue(1);
	}

	@Test
	void aFutureIsAResultAlsoOfADataLoader() throws Exception {
		String document = "mutation { later(sku: \"apple\") load(sku: \"apple\") }";
		for (int i = 0; i < 2; i++) {
			DocumentContext answer = send(document, this.key);
			assertThat(data(answer, "later")).isEqualTo("apple later, addition 1");
			assertThat(data(answer, "load")).isEqualTo("loaded apple, addition 2");
		}
		assertThat(Cart.additions).hasValue(2);
	}

	@Test
	void theArgumentsOfAnEnvironmentAreCompared() throws Exception {
		assertThat(data(send("mutation { remove(sku: \"apple\") }", this.key), "remove"))
			.isEqualTo("apple, addition 1");
		assertThat(data(send("mutation { remove(sku: \"apple\") }", this.key), "remove"))
			.isEqualTo("apple, addition 1");
		assertRejection(send("mutation { remove(sku: \"pear\") }", this.key), "key-reused", "BAD_REQUEST", "new-key");
	}

	@Test
	void eachMutationOfADocumentMayHaveAKeyOfItsOwn() throws Exception {
		String document = "mutation { a: placeOrder(input: {key: \"%1$s-a\", sku: \"apple\", quantity: 1}) "
				+ "b: placeOrder(input: {key: \"%1$s-b\", sku: \"pear\", quantity: 2}) }";
		for (int i = 0; i < 2; i++) {
			DocumentContext answer = send(document.formatted(this.key), null);
			assertThat(data(answer, "a")).isEqualTo("apple, addition 1");
			assertThat(data(answer, "b")).isEqualTo("pear, addition 2");
		}
		assertThat(Cart.additions).hasValue(2);
	}

	@Test
	void aMissingKeyIsTheFaultOfTheRequest() throws Exception {
		DocumentContext answer = send(ADD.formatted("apple", 1), null);
		assertRejection(answer, "key-missing", "BAD_REQUEST", "fix-request");
		assertThat(answer.<String>read("$.errors[0].message")).startsWith("Idempotency-Key is missing. ")
			.doesNotContain("Cart")
			.doesNotContain("required");
	}

	@Test
	void nobodyIsRejectedWhereCallersMustBeKnown() throws Exception {
		try (ConfigurableApplicationContext rejecting = start("reject")) {
			URI there = endpoint(rejecting);
			for (String mutation : List.of(ADD.formatted("apple", 1), "mutation { elsewhere(sku: \"apple\") }",
					"mutation { addItem(sku: \"apple\") @idempotent(key: \"a\") }",
					"mutation { pay(input: {clientMutationId: \"" + this.key + "\", cents: 5}) }")) {
				assertRejection(JsonPath.parse(body(there, json(mutation), this.key)), "caller-unknown", "UNAUTHORIZED",
						"fix-request");
			}
			assertThat(Cart.additions).hasValue(0);
			String named = json("mutation { placeOrder(input: {key: \"k\", sku: \"apple\", quantity: 1}) }");
			assertThat(data(JsonPath.parse(body(there, named, null)), "placeOrder")).isEqualTo("apple, addition 1");
			String added = body(there, json(ADD.formatted("apple", 1)), this.key, "X-User", "ann");
			assertThat(data(JsonPath.parse(added), "addItem")).isEqualTo("1 apple, addition 2");
		}
	}

	@Test
	void aDuplicateSaysThatItMustNotBeSentAgain() throws Exception {
		String document = "mutation { once(sku: \"" + this.key + "\") }";
		send(document, null);
		DocumentContext answer = send(document, null);
		assertRejection(answer, "duplicate", "CONFLICT", "never");
		assertThat(answer.<Integer>read("$.errors[0].extensions.attempts")).isEqualTo(2);
	}

	@Test
	void aMutationThatRunsSaysWhenToComeBack() throws Exception {
		Cart.entered = new CountDownLatch(1);
		Cart.gate = new CountDownLatch(1);
		CompletableFuture<HttpResponse<String>> first = this.client
			.sendAsync(request(json("mutation { slow }"), this.key), HttpResponse.BodyHandlers.ofString());
		assertThat(Cart.entered.await(60, TimeUnit.SECONDS)).isTrue();
		DocumentContext answer = send("mutation { slow }", this.key);
		Cart.gate.countDown();
		assertRejection(answer, "in-progress", "CONFLICT", "same-key");
		assertThat(answer.<Integer>read("$.errors[0].extensions.retryAfter")).isPositive();
		assertThat(first.join().body()).contains("addition 1");
		assertThat(send("mutation { slow }", this.key).<String>read("$.data.slow")).isEqualTo("addition 1");
	}

	@Test
	void aFailureOfTheWorkIsNoRejection() throws Exception {
		assertThat(send("mutation { fail }", this.key).<String>read("$.errors[0].extensions.classification"))
			.isEqualTo("INTERNAL_ERROR");
		send("mutation { fail }", this.key);
		assertThat(Cart.additions).hasValue(2);
	}

	@ParameterizedTest
	@ValueSource(strings = { "failForGood", "failLaterForGood" })
	void aRememberedFailureIsTheSameError(String mutation) throws Exception {
		String document = "mutation { " + mutation + "(sku: \"apple\") }";
		Map<String, Object> first = send(document, this.key).read("$.errors[0]");
		assertThat(first).containsEntry("message", "There is no apple: sold out in addition 1")
			.containsEntry("extensions", Map.of("sku", "apple", "classification", "NOT_FOUND"));
		assertThat(send(document, this.key).<Map<String, Object>>read("$.errors[0]")).isEqualTo(first);
		assertThat(Cart.additions).hasValue(1);
	}

	@Test
	void aDocumentOverRSocketHasNeitherHeadersNorACaller() {
		GraphQlRSocketHandler rsocket = new GraphQlRSocketHandler(application.getBean(ExecutionGraphQlService.class),
				List.of(), Mockito.mock());
		DocumentContext header = overRSocket(rsocket, ADD.formatted("apple", 1));
		assertRejection(header, "key-missing", "BAD_REQUEST", "fix-request");
		DocumentContext input = overRSocket(rsocket,
				"mutation { pay(input: {clientMutationId: \"" + this.key + "\", cents: 5}) }");
		assertThat(input.<String>read("$.errors[0].extensions.classification")).isEqualTo("INTERNAL_ERROR");
		assertThat(input.jsonString()).doesNotContain("Cart");
		assertThat(Cart.additions).hasValue(0);
		String document = "mutation { placeOrder(input: {key: \"" + this.key + "\", sku: \"apple\", quantity: 1}) }";
		for (int i = 0; i < 2; i++) {
			assertThat(data(overRSocket(rsocket, document), "placeOrder")).isEqualTo("apple, addition 1");
		}
	}

	private static DocumentContext overRSocket(GraphQlRSocketHandler rsocket, String document) {
		return JsonPath.parse(rsocket.handle(Map.of("query", document)).block());
	}

	private static void assertRejection(DocumentContext answer, String code, String classification, String retry) {
		assertThat(answer.<String>read("$.errors[0].extensions.classification")).as(answer.jsonString())
			.isEqualTo(classification);
		assertThat(answer.<String>read("$.errors[0].extensions.code")).isEqualTo(code);
		assertThat(answer.<String>read("$.errors[0].extensions.retry")).isEqualTo(retry);
	}

	private static @Nullable String data(DocumentContext answer, String name) {
		return answer.read("$.data." + name);
	}

	private DocumentContext send(String document, @Nullable String key, String... headers) throws Exception {
		return post(json(document), key, headers);
	}

	private DocumentContext post(String json, @Nullable String key, String... headers) throws Exception {
		return JsonPath.parse(body(endpoint, json, key, headers));
	}

	private String body(URI to, String json, @Nullable String key, String... headers) throws Exception {
		HttpResponse<String> response = this.client.send(request(to, json, key, headers),
				HttpResponse.BodyHandlers.ofString());
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return response.body();
	}

	private static HttpRequest request(String json, @Nullable String key) {
		return request(endpoint, json, key);
	}

	private static HttpRequest request(URI to, String json, @Nullable String key, String... headers) {
		HttpRequest.Builder request = HttpRequest.newBuilder(to)
			.header("Content-Type", "application/json")
			.header("Accept", "application/json")
			.POST(HttpRequest.BodyPublishers.ofString(json));
		for (int i = 0; i < headers.length; i += 2) {
			request.header(headers[i], headers[i + 1]);
		}
		return ((key != null) ? request.header("Idempotency-Key", key) : request).build();
	}

	private static String json(String document) {
		return "{\"query\": \"" + document.replace("\"", "\\\"") + "\"}";
	}

}
