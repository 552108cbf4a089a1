package io.idempotency.it.graphql;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.jayway.jsonpath.DocumentContext;
import com.jayway.jsonpath.JsonPath;
import io.idempotency.it.graphql.GraphQlApplication.Cart;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** Mutations over HTTP: what runs once, and what a refused client is told. */
class GraphQlMutationTests {

	private static final String ADD = "mutation { addItem(sku: \"%s\", quantity: %d) }";

	private static ConfigurableApplicationContext application;

	private static URI endpoint;

	private final HttpClient client = HttpClient.newHttpClient();

	private final String key = UUID.randomUUID().toString();

	@BeforeAll
	static void start() {
		application = new SpringApplicationBuilder(GraphQlApplication.class).run(
				"--spring.main.web-application-type=servlet", "--server.port=0",
				"--spring.graphql.schema.locations=classpath:graphql-shop/", "--idempotency.store=memory",
				"--spring.datasource.url=jdbc:h2:mem:graphql", "--spring.main.banner-mode=off");
		endpoint = URI
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
	void theSecondMutationOfOneDocumentIsNotAnsweredWithTheFirst() throws Exception {
		DocumentContext answer = send(
				"mutation { a: addItem(sku: \"apple\", quantity: 1) b: addItem(sku: \"pear\", " + "quantity: 1) }",
				this.key);
		assertRefusal(answer, "key-reused", "BAD_REQUEST", "new-key");
		assertThat(answer.<String>read("$.errors[0].path[0]")).isEqualTo("b");
		assertThat(Cart.additions).hasValue(1);
	}

	@Test
	void theArgumentsOfAnEnvironmentAreCompared() throws Exception {
		assertThat(data(send("mutation { remove(sku: \"apple\") }", this.key), "remove"))
			.isEqualTo("apple, addition 1");
		assertThat(data(send("mutation { remove(sku: \"apple\") }", this.key), "remove"))
			.isEqualTo("apple, addition 1");
		assertRefusal(send("mutation { remove(sku: \"pear\") }", this.key), "key-reused", "BAD_REQUEST", "new-key");
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
		assertRefusal(answer, "key-missing", "BAD_REQUEST", "fix-request");
		assertThat(answer.<String>read("$.errors[0].message")).startsWith("Idempotency-Key is missing: ")
			.doesNotContain("Cart")
			.doesNotContain("required");
	}

	@Test
	void aDuplicateSaysThatItMustNotBeSentAgain() throws Exception {
		String document = "mutation { once(sku: \"" + this.key + "\") }";
		send(document, null);
		DocumentContext answer = send(document, null);
		assertRefusal(answer, "duplicate", "CONFLICT", "never");
		assertThat(answer.<Integer>read("$.errors[0].extensions.attempts")).isEqualTo(2);
	}

	@Test
	void aMutationThatRunsSaysWhenToComeBack() throws Exception {
		Cart.entered = new CountDownLatch(1);
		Cart.gate = new CountDownLatch(1);
		CompletableFuture<HttpResponse<String>> first = this.client.sendAsync(request("mutation { slow }", this.key),
				HttpResponse.BodyHandlers.ofString());
		assertThat(Cart.entered.await(60, TimeUnit.SECONDS)).isTrue();
		DocumentContext answer = send("mutation { slow }", this.key);
		Cart.gate.countDown();
		assertRefusal(answer, "in-progress", "CONFLICT", "same-key");
		assertThat(answer.<Integer>read("$.errors[0].extensions.retryAfter")).isPositive();
		assertThat(first.join().body()).contains("addition 1");
		assertThat(send("mutation { slow }", this.key).<String>read("$.data.slow")).isEqualTo("addition 1");
	}

	@Test
	void aFailureOfTheWorkIsNoRefusal() throws Exception {
		assertThat(send("mutation { fail }", this.key).<String>read("$.errors[0].extensions.classification"))
			.isEqualTo("INTERNAL_ERROR");
		send("mutation { fail }", this.key);
		assertThat(Cart.additions).hasValue(2);
	}

	private static void assertRefusal(DocumentContext answer, String code, String classification, String retry) {
		assertThat(answer.<String>read("$.errors[0].extensions.classification")).as(answer.jsonString())
			.isEqualTo(classification);
		assertThat(answer.<String>read("$.errors[0].extensions.code")).isEqualTo(code);
		assertThat(answer.<String>read("$.errors[0].extensions.retry")).isEqualTo(retry);
	}

	private static String data(DocumentContext answer, String name) {
		return answer.read("$.data." + name);
	}

	private DocumentContext send(String document, @Nullable String key) throws IOException, InterruptedException {
		HttpResponse<String> response = this.client.send(request(document, key), HttpResponse.BodyHandlers.ofString());
		assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
		return JsonPath.parse(response.body());
	}

	private static HttpRequest request(String document, @Nullable String key) {
		HttpRequest.Builder request = HttpRequest.newBuilder(endpoint)
			.header("Content-Type", "application/json")
			.header("Accept", "application/json")
			.POST(HttpRequest.BodyPublishers.ofString("{\"query\": \"" + document.replace("\"", "\\\"") + "\"}"));
		return ((key != null) ? request.header("Idempotency-Key", key) : request).build();
	}

}
