package io.idempotency.samples.reactive;

import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import com.jayway.jsonpath.JsonPath;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.test.ConcurrentDuplicates;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.r2dbc.core.DatabaseClient;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** With the records in the memory of the shop. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "management.prometheus.metrics.export.enabled=true")
class ReactiveShopTests {

	private static final String ORDERS = "/api/orders";

	private static final String ORDER = "{\"sku\":\"sku-1\",\"quantity\":1}";

	private static final String JSON = "application/json";

	private static final Pattern CALL = Pattern
		.compile("curl ([^\n]*?)localhost:8080(\\S+)((?:.*?\\\\\n)*.*?)-d '(.*?)'");

	private static final Pattern HEADER = Pattern.compile("-H '(.*?): (.*?)'");

	@LocalServerPort
	private int port;

	private Client client;

	private String key;

	private int ordersBefore;

	@BeforeEach
	void openTheDoor() {
		this.client = new Client(this.port);
		this.key = UUID.randomUUID().toString();
		this.ordersBefore = orderCount();
	}

	@Test
	void eachCallOfTheReadmeHasItsEffectOnce() throws Exception {
		List<MatchResult> calls = CALL.matcher(Files.readString(Path.of("README.md"))).results().toList();
		assertThat(calls).hasSize(5);
		String first = order().header("Location");
		for (MatchResult call : calls) {
			String path = call.group(2).replace(ORDERS + "/1", first);
			HttpRequest.Builder request = this.client.to(path);
			HEADER.matcher(call.group(3))
				.results()
				.filter((header) -> !header.group(1).startsWith("X-Demo"))
				.forEach((header) -> request.header(header.group(1), header.group(2)));
			if (call.group(1).contains("-u alice:demo")) {
				Client.as("alice").accept(request);
			}
			int before = size(path);
			request.POST(HttpRequest.BodyPublishers.ofString(call.group(4)));
			Answer executed = this.client.send(request);
			assertThat(executed.status()).as(executed.toString()).isEqualTo(201);
			assertThat(executed.replayed()).isFalse();
			Answer again = this.client.send(request);
			assertThat(again.text()).isEqualTo(executed.text());
			assertThat(again.replayed()).isEqualTo(!path.endsWith("/refunds"));
			assertThat(size(path)).isEqualTo(before + 1);
		}
	}

	@Test
	void whoeverHangsUpHasOrderedAllTheSame(@Autowired MeterRegistry meters) {
		Gauge running = meters.get("idempotency.claims.running").gauge();
		this.client.hangUp(ordering().header("X-Demo-Delay", "2s"), () -> await().until(() -> running.value() == 1));
		Answer answer = await().until(() -> this.client.send(ordering()), (each) -> each.status() != 409);
		assertThat(answer.status()).isEqualTo(201);
		assertThat(answer.replayed()).isTrue();
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void hundredDuplicatesAtOnceAreOneOrder() throws Exception {
		List<Answer> answers = ConcurrentDuplicates.of(100).run((index) -> order()).valuesOrFail();
		assertThat(newOrders()).isEqualTo(1);
		assertThat(answers).extracting(Answer::status).isSubsetOf(201, 409);
		assertThat(answers).filteredOn((answer) -> answer.status() == 201 && !answer.replayed()).hasSize(1);
		assertThat(order().replayed()).isTrue();
	}

	@Test
	void buyersAtOnceTakeNoMoreThanThereIs() throws Exception {
		List<Integer> answers = ConcurrentDuplicates.of(16)
			.run((index) -> this.client.post(ORDERS, this.key + index, JSON, "{\"sku\":\"sku-9\",\"quantity\":1}")
				.status())
			.valuesOrFail();
		assertThat(answers).containsOnly(201, 409).filteredOn((status) -> status == 201).hasSize(newOrders());
		assertThat(newOrders()).isEqualTo(3);
	}

	@Test
	void paymentSentTwiceAtOnceIsAnsweredTwiceAndBookedOnce() throws Exception {
		String payments = order().header("Location") + "/payments";
		List<Answer> answers = ConcurrentDuplicates.of(4)
			.run((index) -> this.client.post(payments, this.key, JSON, "{\"amount\":129.00}",
					(request) -> request.header("X-Demo-Delay", "500ms")))
			.valuesOrFail();
		assertThat(answers).extracting(Answer::status).containsOnly(201);
		assertThat(answers).extracting(Answer::text).containsOnly(answers.get(0).text());
		assertThat(answers).filteredOn((answer) -> !answer.replayed()).hasSize(1);
		assertThat(size(payments)).isEqualTo(1);
	}

	@Test
	void refundThatOnlyTheBooksKnowIsGivenOnce(@Autowired DatabaseClient books) {
		Answer order = order();
		String path = order.header("Location");
		this.client.post(path + "/payments", this.key, JSON, "{\"amount\":129.00}");
		books.sql("insert into refund (order_id, reference, amount, status) values (:order, :reference, 29.00, 'DONE')")
			.bind("order", JsonPath.<Integer>read(order.text(), "$.id"))
			.bind("reference", this.key)
			.then()
			.block(Duration.ofSeconds(30));
		Answer refund = post(path + "/refunds", "{\"reference\":\"" + this.key + "\",\"amount\":29.00}");
		assertThat(refund.status()).as(refund.toString()).isEqualTo(201);
		assertThat(JsonPath.<String>read(refund.text(), "$.reference")).isEqualTo(this.key);
		assertThat(size(path + "/refunds")).isEqualTo(1);
		assertThat(JsonPath.<Double>read(get(path).text(), "$.refunded")).isZero();
	}

	@Test
	void keyBelongsToItsCallerAndItsRequest() {
		assertThat(order().status()).isEqualTo(201);
		Answer bob = this.client.post(ORDERS, this.key, JSON, ORDER, Client.as("bob"));
		assertThat(bob.replayed()).isFalse();
		assertThat(JsonPath.<String>read(bob.text(), "$.customer")).isEqualTo("bob");
		assertThatRejected(post(ORDERS, "{\"sku\":\"sku-1\",\"quantity\":2}"), 422, "key-reused");
		assertThat(newOrders()).isEqualTo(2);
	}

	@Test
	void whatIsRejectedBeforeTheGuardUsesNoKey() {
		Answer invalid = post(ORDERS, "{\"sku\":\"sku-1\",\"quantity\":0}");
		assertThatRejected(invalid, 400, "invalid-request");
		assertThat(JsonPath.<String>read(invalid.text(), "$.fields.quantity")).isNotBlank();
		Answer corrected = order();
		assertThat(corrected.status()).isEqualTo(201);
		assertThat(corrected.replayed()).isFalse();
	}

	@Test
	void rejectionOfTheShopIsReplayed() {
		String tooMany = "{\"sku\":\"sku-9\",\"quantity\":100}";
		assertThatRejected(post(ORDERS, tooMany), 409, "out-of-stock");
		Answer again = post(ORDERS, tooMany);
		assertThatRejected(again, 409, "out-of-stock");
		assertThat(again.replayed()).isTrue();
	}

	@Test
	void logTellsHowCallsEnded() {
		order();
		order();
		post(ORDERS, "{\"sku\":\"sku-1\",\"quantity\":2}");
		List<String> outcomes = await().until(
				() -> JsonPath.read(get("/api/log").text(), "$[?(@.key == '" + this.key + "')].outcome"),
				(seen) -> seen.size() == 3);
		assertThat(outcomes).containsExactly("EXECUTED", "REPLAYED", "REJECTED");
	}

	@Test
	void pageIsThatOfTheOtherShop() {
		assertThat(get("/").text()).contains("Idempotency-Key", "app.js");
		assertThat(get("/").header("Content-Security-Policy")).startsWith("default-src 'self'; ");
		assertThat(get("/app.js").status()).isEqualTo(200);
	}

	@Test
	void recordsAreForTheOperatorAlone() {
		order();
		String record = "/actuator/idempotency?operation=order.place&key=" + this.key;
		assertThat(get(record).status()).isEqualTo(401);
		HttpRequest.Builder request = this.client.to(record);
		Client.as("operator").accept(request);
		assertThat(this.client.send(request).text()).contains("\"state\":\"DONE\"");
		assertThat(get("/actuator/prometheus").text()).contains("idempotency_seconds_count{");
	}

	private HttpRequest.Builder ordering() {
		return this.client.to(ORDERS)
			.header("Idempotency-Key", this.key)
			.header("Content-Type", JSON)
			.POST(HttpRequest.BodyPublishers.ofString(ORDER));
	}

	final Answer order() {
		return post(ORDERS, ORDER);
	}

	private Answer post(String path, String body) {
		return this.client.post(path, this.key, JSON, body);
	}

	private Answer get(String path) {
		return this.client.send(this.client.to(path));
	}

	private int newOrders() {
		return orderCount() - this.ordersBefore;
	}

	private int orderCount() {
		return size(ORDERS);
	}

	private int size(String path) {
		return JsonPath.read(get(path).text(), "$.length()");
	}

	private static void assertThatRejected(Answer answer, int status, String code) {
		assertThat(answer.status()).as(answer.toString()).isEqualTo(status);
		assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
		assertThat(JsonPath.<String>read(answer.text(), "$.code")).isEqualTo(code);
	}

}
