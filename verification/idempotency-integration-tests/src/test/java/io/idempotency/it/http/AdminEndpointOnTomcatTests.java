package io.idempotency.it.http;

import java.io.IOException;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.regex.Pattern;

import com.jayway.jsonpath.JsonPath;
import io.idempotency.Idempotent;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.scenarios.Runs;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The actuator endpoint, where it is exposed and may remove records. */
@SpringBootTest(classes = HttpApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "management.endpoints.web.exposure.include=idempotency",
				"idempotency.admin.write-operations=true", "spring.application.name=shop" })
@ExtendWith(OutputCaptureExtension.class)
@Import(AdminEndpointOnTomcatTests.Payments.class)
class AdminEndpointOnTomcatTests {

	private static final String ENDPOINT = "/actuator/idempotency";

	private static final String OTHER = operation("other()");

	private final String key = UUID.randomUUID().toString();

	@Autowired
	Environment environment;

	@Autowired
	private Runs runs;

	private Client client = new Client(0);

	private static String operation(String method) {
		return "operation=" + URLEncoder.encode(KeysController.class.getName() + "." + method, StandardCharsets.UTF_8);
	}

	@BeforeEach
	void connect() {
		this.client = new Client(Integer.parseInt(this.environment.getRequiredProperty("local.server.port")));
	}

	@Test
	void recordIsFoundByItsKeyAndNeverShowsIt() {
		call("/keys/other", this.key, Client.as("alice"));
		Answer answer = get(ENDPOINT + "?" + OTHER + "&principal=alice&key=" + this.key);
		Map<String, Object> record = records(json(answer)).get(0);
		assertThat(record).as("%s", answer).containsEntry("state", "DONE").doesNotContainKey("attempts");
		assertThat(record.get("operation")).asString().endsWith("KeysController.other()");
		assertThat(record.get("retentionRest")).asString().startsWith("PT23H59M");
		assertThat(record.get("claimedAt")).asString().endsWith("Z");
		assertThat(answer.text()).doesNotContain(this.key).doesNotContain("alice").doesNotContain("run ");
		assertThat(json(get(ENDPOINT + "/" + record.get("id") + "?" + OTHER))).containsEntry("id", record.get("id"));
		assertThat(records(json(get(ENDPOINT + "?" + OTHER + "&key=" + this.key)))).as("of no caller").isEmpty();
	}

	@Test
	void recordsOfAnOperationAreListedPageByPage() {
		for (int i = 0; i < 5; i++) {
			HttpRequest.Builder request = this.client.to("/keys/header")
				.header("X-Request-Id", UUID.randomUUID().toString())
				.POST(HttpRequest.BodyPublishers.noBody());
			assertThat(this.client.send(request).status()).isEqualTo(200);
		}
		List<Object> ids = new ArrayList<>();
		String path = ENDPOINT + "?" + operation("header()") + "&limit=2";
		Map<String, Object> page = json(get(path));
		while (page.containsKey("cursor")) {
			assertThat(records(page)).hasSize(2);
			records(page).forEach((record) -> ids.add(record.get("id")));
			page = json(get(path + "&cursor=" + page.get("cursor")));
		}
		records(page).forEach((record) -> ids.add(record.get("id")));
		assertThat(ids).hasSize(5).doesNotHaveDuplicates();
	}

	@Test
	void evictedKeyRunsAgainAndTheLogSaysWhoDidIt(CapturedOutput output) {
		Answer first = call("/keys/other", this.key, Client.as("alice"));
		String id = idOf(OTHER, "alice");
		Answer answer = delete(ENDPOINT + "/" + id + "?" + OTHER, Client.as("bob"));
		assertThat(json(answer)).containsEntry("evicted", 1);
		assertThat(output).contains("'bob' evicted the idempotency record " + id);
		Answer second = call("/keys/other", this.key, Client.as("alice"));
		assertThat(second.replayed()).isFalse();
		assertThat(second.text()).isNotEqualTo(first.text());
	}

	@Test
	void recordOfALiveCallIsLeft() throws Exception {
		String path = "/keys/slow/" + this.key;
		CompletableFuture<Answer> running = CompletableFuture
			.supplyAsync(() -> call(path, this.key, Client.as("alice")));
		try {
			await().until(() -> this.runs.of(path) == 1);
			String id = idOf(operation("slow(java.lang.String)"), "alice");
			Answer answer = delete(ENDPOINT + "/" + id + "?" + operation("slow(java.lang.String)"), Client.as("bob"));
			assertThat(json(answer)).containsEntry("evicted", 0).containsEntry("running", 1);
		}
		finally {
			this.runs.held(this.key).complete("done");
		}
		assertThat(running.get(60, TimeUnit.SECONDS).status()).isEqualTo(200);
		assertThat(call(path, this.key, Client.as("alice")).replayed()).isTrue();
	}

	@Test
	void recordsOfOneCallerAreErased(CapturedOutput output) {
		call("/keys/other", this.key, Client.as("alice"));
		call("/keys/other", this.key, Client.as("bob"));
		assertThat(json(delete(ENDPOINT + "?principal=alice", Client.as("bob"))).get("evicted")).isNotEqualTo(0);
		assertThat(json(delete(ENDPOINT + "?principal=alice", Client.as("bob")))).containsEntry("evicted", 0);
		assertThat(call("/keys/other", this.key, Client.as("alice")).replayed()).isFalse();
		assertThat(call("/keys/other", this.key, Client.as("bob")).replayed()).isTrue();
		assertThat(output).contains("'bob' erased the idempotency records")
			.contains("'bob' tried to erase the idempotency records");
		assertThat(output.toString().lines().filter((line) -> line.contains("the idempotency records of the caller")))
			.hasSize(2)
			.allMatch((line) -> line.contains("'bob'") && !line.contains("alice"));
	}

	@Test
	void wrongRequestIsToldWhy() {
		assertReason(get(ENDPOINT + "?" + OTHER + "&limit=0"), 400, "limit");
		assertReason(get(ENDPOINT + "?" + OTHER + "&cursor=x"), 400, "cursor");
		assertReason(get(ENDPOINT + "?" + OTHER + "&store=none"), 400, "'none'");
		assertReason(get(ENDPOINT + "/x?" + OTHER), 400, "id");
		assertReason(get(ENDPOINT + "/" + "0".repeat(64)), 400, "operation");
		assertReason(get(ENDPOINT + "?key=" + this.key), 400, "operation");
		assertReason(get(ENDPOINT + "/" + "0".repeat(64) + "?" + OTHER), 404, "no record with this id");
		assertReason(delete(ENDPOINT, Client.as("bob")), 400, "Specify a principal, a scope or a callerId");
		assertReason(delete(ENDPOINT + "/" + "0".repeat(64), Client.as("bob")), 400, "operation");
		assertReason(delete(ENDPOINT + "?principal=alice&callerId=" + "1".repeat(24), Client.as("bob")), 400,
				"Specify a principal, a scope or a callerId");
	}

	@Test
	void withoutAnOperationTheOperationsAreListed() {
		List<Map<String, Object>> operations = JsonPath.read(get(ENDPOINT).text(), "$.operations");
		assertThat(operations).extracting((operation) -> operation.get("name"))
			.contains(KeysController.class.getName() + ".other()", "routes.orders")
			.isSorted();
		assertThat(operations).anySatisfy(
				(operation) -> assertThat(operation).containsEntry("name", KeysController.class.getName() + ".header()")
					.containsEntry("key", "header X-Request-Id")
					.containsEntry("mode", "REPLAY"));
	}

	@Test
	void findsNothingWithoutItsCaller() {
		call("/keys/other", this.key, Client.as("alice"));
		assertNothing(get(ENDPOINT + "?" + OTHER + "&key=" + this.key));
		assertNothing(get(ENDPOINT + "?" + OTHER + "&key=none&principal=alice"));
		assertNothing(get(ENDPOINT + "?operation=ordr.place"));
	}

	/** As those of mutations of GraphQL under a header are. A comma divides nothing. */
	@Test
	void keyOfSeveralPartsIsFoundByEachOfThem() {
		String found = ENDPOINT + "?operation=order.parts&key=" + this.key;
		assertThat(call("/api/parts", this.key, (request) -> {
		}).status()).isEqualTo(200);
		assertThat(records(json(get(found + "&key=/addItem")))).singleElement()
			.asInstanceOf(InstanceOfAssertFactories.MAP)
			.containsEntry("state", "DONE");
		assertNothing(get(found + "&key=/addItem&principal=alice"));
		for (String other : List.of("", ",/addItem", "&key=/other", "&key=/addItem&key=/addItem")) {
			assertNothing(get(found + other));
		}
	}

	/** The worked example of the page, with the requests that it has. */
	@Test
	void paymentThatHangsIsFoundByTheRequestsOfThePage() throws Exception {
		Payments.entered = new CountDownLatch(1);
		Payments.gate = new CountDownLatch(1);
		List<String> requests = requestsOfThePage();
		assertThat(requests).hasSize(4);
		CompletableFuture<Answer> payment = CompletableFuture
			.supplyAsync(() -> call("/api/payments", "k-17", Client.as("alice")));
		String id;
		try {
			assertThat(Payments.entered.await(60, TimeUnit.SECONDS)).isTrue();
			assertThat(JsonPath.<List<String>>read(get(requests.get(0)).text(),
					"$.operations[?(@.name == 'order.pay')].key"))
				.containsExactly("header Idempotency-Key");
			Map<String, Object> record = records(json(get(requests.get(1)))).get(0);
			assertThat(record).containsEntry("state", "RUNNING").containsKeys("claimedAt", "leaseRest", "node");
			id = String.valueOf(record.get("id"));
			Answer repeated = call("/api/payments", "k-17", Client.as("alice"));
			assertThat(repeated.status()).isEqualTo(409);
			assertThat(repeated.text()).contains("in-progress");
		}
		finally {
			Payments.gate.countDown();
		}
		assertThat(payment.get(60, TimeUnit.SECONDS).text()).isEqualTo("receipt 1");
		assertThat(records(json(get(requests.get(2)))).get(0)).containsEntry("state", "DONE");
		Answer repeated = call("/api/payments", "k-17", Client.as("alice"));
		assertThat(repeated.replayed()).isTrue();
		assertThat(repeated.text()).isEqualTo("receipt 1");
		assertThat(json(delete(requests.get(3).replace("$ID", id), Client.as("bob")))).containsEntry("evicted", 1);
		assertThat(call("/api/payments", "k-17", Client.as("alice")).text()).isEqualTo("receipt 2");
	}

	private static List<String> requestsOfThePage() throws IOException {
		String page = Files.readString(Path.of("../../docs/records.md"));
		String example = page.substring(page.indexOf("## \"My payment hangs\""), page.indexOf("## Release a key"));
		return Pattern.compile("(?m)^curl .*[\"']localhost:8080(.*)[\"']$")
			.matcher(example)
			.results()
			.map((request) -> request.group(1))
			.toList();
	}

	/** The shop of the worked example. */
	@RestController
	static class Payments {

		private static final AtomicInteger payments = new AtomicInteger();

		private static volatile CountDownLatch entered = new CountDownLatch(1);

		private static volatile CountDownLatch gate = new CountDownLatch(1);

		@PostMapping("/api/payments")
		@Idempotent(operation = "order.pay")
		public String pay() throws InterruptedException {
			entered.countDown();
			gate.await();
			return "receipt " + payments.incrementAndGet();
		}

		@PostMapping("/api/parts")
		@Idempotent(operation = "order.parts", key = "{header('Idempotency-Key'), '/addItem'}")
		public String parts() {
			return "done";
		}

	}

	private static void assertNothing(Answer answer) {
		assertThat(records(json(answer))).isEmpty();
	}

	private static void assertReason(Answer answer, int status, String word) {
		assertThat(answer.status()).as("%s", answer).isEqualTo(status);
		assertThat(JsonPath.<String>read(answer.text(), "$.reason")).contains(word);
	}

	private String idOf(String operation, String principal) {
		Answer found = get(ENDPOINT + "?" + operation + "&principal=" + principal + "&key=" + this.key);
		return String.valueOf(records(json(found)).get(0).get("id"));
	}

	private Answer call(String path, String key, Consumer<HttpRequest.Builder> as) {
		HttpRequest.Builder request = this.client.to(path)
			.header("Idempotency-Key", key)
			.POST(HttpRequest.BodyPublishers.noBody());
		as.accept(request);
		return this.client.send(request);
	}

	private Answer get(String path) {
		return this.client.send(this.client.to(path).GET());
	}

	private Answer delete(String path, Consumer<HttpRequest.Builder> as) {
		HttpRequest.Builder request = this.client.to(path).DELETE();
		as.accept(request);
		return this.client.send(request);
	}

	private static Map<String, Object> json(Answer answer) {
		assertThat(answer.status()).as("%s", answer).isEqualTo(200);
		return JsonPath.read(answer.text(), "$");
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> records(Map<String, Object> page) {
		return (List<Map<String, Object>>) page.get("records");
	}

}
