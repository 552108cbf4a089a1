package io.idempotency.samples.shop;

import java.util.List;

import io.idempotency.it.client.Answer;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.memory.MemoryIdempotencyStore;
import io.idempotency.test.ConcurrentDuplicates;
import io.idempotency.test.IdempotencyCoverage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.amqp.core.AmqpAdmin;
import org.springframework.amqp.rabbit.connection.ConnectionFactory;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.ApplicationContext;
import org.springframework.kafka.core.KafkaAdmin;
import org.springframework.kafka.core.KafkaTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The shop itself, over HTTP. Whatever is posted has a key of its own.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class ShopApplicationTests {

	@LocalServerPort
	private int port;

	private ShopClient shop;

	@BeforeEach
	void openTheDoor() {
		this.shop = new ShopClient(this.port);
	}

	@Test
	void everyOperationIsDecided(@Autowired ApplicationContext context) {
		IdempotencyCoverage.of(context).assertDecided();
	}

	@Test
	void needsNoServerUnlessAProfileSaysSo(@Autowired IdempotencyStore store) {
		assertThat(store).isInstanceOf(MemoryIdempotencyStore.class);
	}

	@Test
	void talksToNoBrokerUnlessAProfileSaysSo(@Autowired ApplicationContext context) {
		for (Class<?> type : List.of(KafkaTemplate.class, KafkaAdmin.class, ConnectionFactory.class, AmqpAdmin.class)) {
			assertThat(context.getBeanNamesForType(type)).isEmpty();
		}
		assertThat(this.shop.get("/api/messages").text()).isEqualTo("{\"brokers\":[],\"messages\":[]}");
	}

	@Test
	void sellsNineProducts() throws Exception {
		Answer products = this.shop.get("/api/products");
		assertThat(products.status()).isEqualTo(200);
		assertThat(ShopClient.<List<String>>read(products, "$[*].sku")).containsExactly("sku-1", "sku-2", "sku-3",
				"sku-4", "sku-5", "sku-6", "sku-7", "sku-8", "sku-9");
	}

	@Test
	void placedOrderIsAnsweredWithItsLocation() throws Exception {
		Answer placed = this.shop.order(ShopClient.newKey(), "sku-3", 2);
		assertThat(placed.status()).isEqualTo(201);
		assertThat(ShopClient.<String>read(placed, "$.sku")).isEqualTo("sku-3");
		assertThat(ShopClient.<Integer>read(placed, "$.quantity")).isEqualTo(2);
		assertThat(placed.text()).contains("\"amount\":25.00");
		assertThat(ShopClient.<String>read(placed, "$.status")).isEqualTo("PLACED");
		String location = placed.header("Location");
		assertThat(location).isEqualTo("/api/orders/" + ShopClient.<Integer>read(placed, "$.id"));
		assertThat(this.shop.get(location).text()).isEqualTo(placed.text());
	}

	@Test
	void ordersAreListedNewestFirst() throws Exception {
		Answer first = this.shop.order(ShopClient.newKey(), "sku-4", 1);
		Answer second = this.shop.order(ShopClient.newKey(), "sku-5", 1);
		Answer orders = this.shop.get("/api/orders");
		assertThat(ShopClient.<String>read(orders, "$[0].orderNo"))
			.isEqualTo(ShopClient.<String>read(second, "$.orderNo"));
		assertThat(ShopClient.<String>read(orders, "$[1].orderNo"))
			.isEqualTo(ShopClient.<String>read(first, "$.orderNo"));
	}

	@Test
	void orderTakesFromTheStock() throws Exception {
		int before = this.shop.stockOf("sku-7");
		this.shop.order(ShopClient.newKey(), "sku-7", 3);
		assertThat(this.shop.stockOf("sku-7")).isEqualTo(before - 3);
	}

	@Test
	void stockNeverFallsBelowZero() throws Exception {
		int before = this.shop.stockOf("sku-9");
		List<Integer> answers = ConcurrentDuplicates.of(32)
			.run((index) -> this.shop.order(ShopClient.newKey(), "sku-9", 1).status())
			.valuesOrFail();
		assertThat(answers).containsOnly(201, 409).filteredOn((status) -> status == 201).hasSize(before);
		assertThat(this.shop.stockOf("sku-9")).isZero();
	}

	@Test
	void moreThanTheStockIsRejectedWhole() throws Exception {
		int before = this.shop.stockOf("sku-6");
		this.shop.order(ShopClient.newKey(), "sku-6", 100);
		Answer answer = this.shop.order(ShopClient.newKey(), "sku-6", 100);
		Answer rejected = this.shop.order(ShopClient.newKey(), "sku-6", 100);
		assertThat(answer.status()).isEqualTo(201);
		assertThatProblem(rejected, 409, "out-of-stock");
		assertThat(this.shop.stockOf("sku-6")).isEqualTo(before - 200);
	}

	@Test
	void unknownProductIsRejected() throws Exception {
		assertThatProblem(this.shop.order(ShopClient.newKey(), "sku-10", 1), 422, "unknown-product");
	}

	@ParameterizedTest
	@ValueSource(strings = { "{\"sku\":\"sku-1\",\"quantity\":0}", "{\"sku\":\"sku-1\",\"quantity\":101}",
			"{\"sku\":\"sku-1\"}", "{\"sku\":\" \",\"quantity\":1}", "{\"quantity\":1}", "{\"sku\":\"sku-1\",", "" })
	void invalidOrderIsRejected(String body) throws Exception {
		int before = this.shop.orderCount();
		Answer rejected = this.shop.send(this.shop.posting("/api/orders", ShopClient.newKey(), body));
		assertThat(rejected.status()).isEqualTo(400);
		assertThat(rejected.header("Content-Type")).isEqualTo("application/problem+json");
		assertThat(this.shop.orderCount()).isEqualTo(before);
	}

	@Test
	void invalidOrderIsToldWhichFieldIsWrong() throws Exception {
		Answer rejected = this.shop.order(ShopClient.newKey(), "sku-1", 0);
		assertThatProblem(rejected, 400, "invalid-request");
		assertThat(ShopClient.<String>read(rejected, "$.fields.quantity")).isNotBlank();
	}

	@Test
	void paymentsAddUpToThePrice() throws Exception {
		String order = this.shop.newOrder();
		Answer half = pay(order, "100.00");
		assertThat(half.status()).isEqualTo(201);
		assertThat(ShopClient.<String>read(this.shop.get(order), "$.status")).isEqualTo("PLACED");
		assertThat(pay(order, "29.00").status()).isEqualTo(201);
		assertThat(ShopClient.<String>read(this.shop.get(order), "$.status")).isEqualTo("PAID");
		assertThat(ShopClient.<Integer>read(this.shop.get(order + "/payments"), "$.length()")).isEqualTo(2);
	}

	@Test
	void morePaymentsThanThePriceAreRejected() throws Exception {
		String order = this.shop.newOrder();
		List<Integer> answers = ConcurrentDuplicates.of(8).run((index) -> pay(order, "50.00").status()).valuesOrFail();
		assertThat(answers).containsOnly(201, 422).filteredOn((status) -> status == 201).hasSize(2);
		assertThat(ShopClient.<Integer>read(this.shop.get(order + "/payments"), "$.length()")).isEqualTo(2);
		assertThatProblem(pay(order, "29.01"), 422, "amount-too-high");
	}

	@ParameterizedTest
	@ValueSource(strings = { "0", "-1", "0.001", "null" })
	void invalidPaymentIsRejected(String amount) throws Exception {
		assertThatProblem(pay(this.shop.newOrder(), amount), 400, "invalid-request");
	}

	@Test
	void unknownOrderCanBeNeitherSeenNorPaidNorRefunded() throws Exception {
		String order = "/api/orders/999999999";
		assertThatProblem(this.shop.get(order), 404, "unknown-order");
		assertThatProblem(this.shop.get(order + "/payments"), 404, "unknown-order");
		assertThatProblem(pay(order, "1.00"), 404, "unknown-order");
		assertThatProblem(refund(order, "R-1", "1.00"), 404, "unknown-order");
	}

	@Test
	void refundGivesBackWhatWasPaid() throws Exception {
		String order = this.shop.newOrder();
		pay(order, "129.00");
		Answer refund = refund(order, "R-1", "29.00");
		assertThat(refund.status()).isEqualTo(201);
		assertThat(ShopClient.<String>read(refund, "$.reference")).isEqualTo("R-1");
		assertThat(refund(order, "R-2", "100.00").status()).isEqualTo(201);
		assertThat(ShopClient.<String>read(this.shop.get(order), "$.status")).isEqualTo("REFUNDED");
		assertThat(ShopClient.<Integer>read(this.shop.get(order + "/refunds"), "$.length()")).isEqualTo(2);
	}

	@Test
	void refundOfMoreThanWasPaidIsRejectedAndNotBooked() throws Exception {
		String order = this.shop.newOrder();
		pay(order, "50.00");
		assertThatProblem(refund(order, "R-1", "50.01"), 422, "amount-too-high");
		assertThat(this.shop.get(order + "/refunds").text()).isEqualTo("[]");
	}

	@Test
	void orderBelongsToWhoeverPlacedIt() throws Exception {
		String body = ShopClient.orderOf("sku-2", 1);
		Answer alice = this.shop
			.send(ShopClient.as(this.shop.posting("/api/orders", ShopClient.newKey(), body), "alice"));
		Answer bob = this.shop.send(ShopClient.as(this.shop.posting("/api/orders", ShopClient.newKey(), body), "bob"));
		Answer nobody = this.shop.order(ShopClient.newKey(), "sku-2", 1);
		assertThat(ShopClient.<String>read(alice, "$.customer")).isEqualTo("alice");
		assertThat(ShopClient.<String>read(bob, "$.customer")).isEqualTo("bob");
		assertThat(ShopClient.<String>read(nobody, "$.customer")).isEqualTo("anonymous");
	}

	@Test
	void wrongPasswordOrdersNothing() throws Exception {
		int before = this.shop.orderCount();
		Answer rejected = this.shop
			.send(ShopClient.as(this.shop.posting("/api/orders", ShopClient.newKey(), ShopClient.orderOf("sku-1", 1)),
					"alice", "wrong"));
		assertThat(rejected.status()).isEqualTo(401);
		assertThat(rejected.header("WWW-Authenticate")).startsWith("Basic ");
		assertThat(this.shop.orderCount()).isEqualTo(before);
	}

	@Test
	void browserIsNotMadeToAskForAPassword() throws Exception {
		Answer rejected = this.shop.send(ShopClient
			.as(this.shop.request("/api/orders").header("X-Requested-With", "XMLHttpRequest"), "alice", "wrong"));
		assertThat(rejected.status()).isEqualTo(401);
		assertThat(rejected.header("WWW-Authenticate")).isNull();
	}

	@Test
	void demoDelayMakesTheCallSlow() throws Exception {
		long start = System.nanoTime();
		Answer placed = this.shop
			.send(this.shop.posting("/api/orders", ShopClient.newKey(), ShopClient.orderOf("sku-1", 1))
				.header("X-Demo-Delay", "200ms"));
		assertThat(placed.status()).isEqualTo(201);
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(200_000_000L);
	}

	@Test
	void malformedDemoDelayIsRejected() throws Exception {
		Answer rejected = this.shop
			.send(this.shop.posting("/api/orders", ShopClient.newKey(), ShopClient.orderOf("sku-1", 1))
				.header("X-Demo-Delay", "soon"));
		assertThat(rejected.status()).isEqualTo(400);
	}

	@Test
	void logTellsHowCallsEnded() throws Exception {
		Answer log = this.shop.get("/api/log");
		List<Integer> numbers = ShopClient.read(log, "$[*].number");
		int last = numbers.isEmpty() ? 0 : numbers.get(numbers.size() - 1);
		String key = ShopClient.newKey();
		this.shop.send(ShopClient.as(this.shop.posting("/api/orders", key, ShopClient.orderOf("sku-8", 1)), "alice")
			.header("X-Request-Id", "first"));
		this.shop.order(ShopClient.newKey(), "sku-8", 0);
		Answer news = await().until(() -> this.shop.get("/api/log?after=" + last),
				(answer) -> ShopClient.<Integer>read(answer, "$.length()") == 2);
		assertThat(ShopClient.<List<String>>read(news, "$[*].outcome")).containsExactly("EXECUTED", "REJECTED");
		assertThat(ShopClient.<List<Integer>>read(news, "$[*].status")).containsExactly(201, 400);
		assertThat(ShopClient.<List<String>>read(news, "$[*].customer")).containsExactly("alice", "anonymous");
		assertThat(ShopClient.<String>read(news, "$[0].key")).isEqualTo(key);
		assertThat(ShopClient.<String>read(news, "$[0].requestId")).isEqualTo("first");
	}

	@Test
	void pageIsServedAndBringsItsOwnFilesOnly() throws Exception {
		Answer page = this.shop.get("/");
		assertThat(page.status()).isEqualTo(200);
		assertThat(page.header("Content-Type")).startsWith("text/html");
		assertThat(page.header("Content-Security-Policy")).startsWith("default-src 'self'; ");
		assertThat(page.text()).contains("Idempotency-Key", "app.js", "app.css")
			.doesNotContain("https://", "<style", "onclick");
	}

	@ParameterizedTest
	@ValueSource(strings = { "/app.css", "/app.js", "/calls.js", "/log.js", "/icons.svg", "/favicon.svg" })
	void filesOfThePageAreServed(String file) throws Exception {
		Answer response = this.shop.get(file);
		assertThat(response.status()).isEqualTo(200);
		assertThat(response.text()).isNotEmpty().doesNotContain("https://");
	}

	private Answer pay(String order, String amount) throws Exception {
		return this.shop.send(this.shop.posting(order + "/payments", ShopClient.newKey(), ShopClient.amountOf(amount)));
	}

	private Answer refund(String order, String reference, String amount) throws Exception {
		return this.shop.send(this.shop.posting(order + "/refunds",
				"{\"reference\":\"%s\",\"amount\":%s}".formatted(reference, amount)));
	}

	private static void assertThatProblem(Answer response, int status, String code) {
		assertThat(response.status()).isEqualTo(status);
		assertThat(response.header("Content-Type")).isEqualTo("application/problem+json");
		assertThat(ShopClient.<String>read(response, "$.code")).isEqualTo(code);
	}

}
