package io.idempotency.samples.shop;

import java.net.http.HttpRequest;
import java.util.List;

import io.idempotency.it.client.Answer;
import io.idempotency.test.ConcurrentDuplicates;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the annotations do for the shop, as its clients see it.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class ShopIdempotencyTests {

	@LocalServerPort
	private int port;

	private ShopClient shop;

	private int ordersBefore;

	private String key;

	@BeforeEach
	void openTheDoor() throws Exception {
		this.shop = new ShopClient(this.port);
		this.ordersBefore = this.shop.orderCount();
		this.key = ShopClient.newKey();
	}

	@Test
	void sameKeyGetsTheSameAnswerAndOneOrder() throws Exception {
		int stock = this.shop.stockOf("sku-1");
		Answer first = this.shop.order(this.key, "sku-1", 1);
		Answer second = this.shop.order(this.key, "sku-1", 1);
		assertThat(first.status()).isEqualTo(201);
		assertThat(first.header("Idempotent-Replayed")).isNull();
		assertThatReplayed(second, first);
		assertThat(second.header("Location")).isEqualTo(first.header("Location")).isNotNull();
		assertThat(newOrders()).isEqualTo(1);
		assertThat(this.shop.stockOf("sku-1")).isEqualTo(stock - 1);
	}

	@Test
	void quotedKeyIsTheBareKey() throws Exception {
		Answer first = this.shop.order(this.key, "sku-1", 1);
		Answer second = this.shop.order('"' + this.key + '"', "sku-1", 1);
		assertThatReplayed(second, first);
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void sameOrderWrittenOtherwiseIsReplayed() throws Exception {
		Answer first = this.shop.order(this.key, "sku-1", 1);
		Answer second = this.shop
			.send(this.shop.posting("/api/orders", this.key, "{ \"quantity\": 1,\n  \"sku\": \"sku-1\" }"));
		assertThatReplayed(second, first);
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void sameKeyWithAnotherQuantityIsRejected() throws Exception {
		this.shop.order(this.key, "sku-1", 1);
		assertThatRejected(this.shop.order(this.key, "sku-1", 2), 422, "key-reused");
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void sameKeyOfAnotherCustomerIsAnotherOrder() throws Exception {
		Answer nobody = this.shop.order(this.key, "sku-1", 1);
		Answer alice = this.shop.send(ShopClient.as(ordering(), "alice"));
		Answer bob = this.shop.send(ShopClient.as(ordering(), "bob"));
		assertThat(List.of(nobody, alice, bob)).extracting(Answer::status).containsOnly(201);
		assertThat(List.of(nobody, alice, bob))
			.extracting((response) -> ShopClient.<String>read(response, "$.customer"))
			.containsExactly("anonymous", "alice", "bob");
		assertThat(newOrders()).isEqualTo(3);
		assertThatReplayed(this.shop.send(ShopClient.as(ordering(), "alice")), alice);
		assertThat(newOrders()).isEqualTo(3);
	}

	@Test
	void missingKeyIsRejected() throws Exception {
		assertThatRejected(this.shop.send(this.shop.posting("/api/orders", ShopClient.orderOf("sku-1", 1))), 400,
				"key-missing");
		assertThat(newOrders()).isZero();
	}

	@Test
	void twoKeysAreRejected() throws Exception {
		HttpRequest.Builder request = ordering().header("Idempotency-Key", ShopClient.newKey());
		assertThatRejected(this.shop.send(request), 400, "key-invalid");
		assertThat(newOrders()).isZero();
	}

	@Test
	void malformedKeyIsRejected() throws Exception {
		assertThatRejected(this.shop.order("\"half-a-string", "sku-1", 1), 400, "key-invalid");
		assertThat(newOrders()).isZero();
	}

	@Test
	void rejectionOfTheShopIsReplayedToo() throws Exception {
		Answer first = this.shop.order(this.key, "sku-9", 100);
		assertThat(ShopClient.<String>read(first, "$.code")).isEqualTo("out-of-stock");
		assertThatReplayed(this.shop.order(this.key, "sku-9", 100), first);
	}

	@Test
	void invalidOrderUsesNoKey() throws Exception {
		assertThat(this.shop.order(this.key, "sku-1", 0).status()).isEqualTo(400);
		Answer corrected = this.shop.order(this.key, "sku-1", 1);
		assertThat(corrected.status()).isEqualTo(201);
		assertThat(corrected.header("Idempotent-Replayed")).isNull();
	}

	@Test
	void hundredDuplicatesAtOnceAreOneOrder() throws Exception {
		List<Answer> answers = ConcurrentDuplicates.of(100)
			.run((index) -> this.shop.order(this.key, "sku-1", 1))
			.valuesOrFail();
		assertThat(newOrders()).isEqualTo(1);
		List<Answer> placed = answers.stream().filter((answer) -> answer.status() == 201).toList();
		assertThat(placed).isNotEmpty();
		assertThat(placed).extracting(Answer::text).containsOnly(placed.get(0).text());
		assertThat(placed).filteredOn((answer) -> !answer.replayed()).hasSize(1);
		assertThat(answers).filteredOn((answer) -> answer.status() != 201).allSatisfy((answer) -> {
			assertThatRejected(answer, 409, "in-progress");
			assertThat(Integer.parseInt(answer.header("Retry-After"))).isPositive();
		});
		assertThatReplayed(this.shop.order(this.key, "sku-1", 1), placed.get(0));
	}

	@Test
	void retryOfAClientThatHungUpGetsWhatTheShopDidMeanwhile(@Autowired MeterRegistry meters) throws Exception {
		Gauge running = meters.get("idempotency.claims.running").gauge();
		this.shop.hangUp(ordering().header("X-Demo-Delay", "2s"), () -> await().until(() -> running.value() == 1));
		Answer answer = await().until(() -> this.shop.send(ordering()), (response) -> response.status() != 409);
		assertThat(answer.status()).isEqualTo(201);
		assertThat(answer.header("Idempotent-Replayed")).isEqualTo("true");
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void paymentSentTwiceAtOnceIsAnsweredTwiceAndBookedOnce() throws Exception {
		String order = this.shop.newOrder();
		List<Answer> answers = ConcurrentDuplicates.of(4)
			.run((index) -> this.shop
				.send(this.shop.posting(order + "/payments", this.key, ShopClient.amountOf("129.00"))
					.header("X-Demo-Delay", "500ms")))
			.valuesOrFail();
		assertThat(answers).extracting(Answer::status).containsOnly(201);
		assertThat(answers).extracting(Answer::text).containsOnly(answers.get(0).text());
		assertThat(answers).filteredOn((answer) -> !answer.replayed()).hasSize(1);
		assertThat(ShopClient.<Integer>read(this.shop.get(order + "/payments"), "$.length()")).isEqualTo(1);
	}

	@Test
	void keyOfOneOrdersPaymentPaysNoOtherOrder() throws Exception {
		String order = this.shop.newOrder();
		String other = this.shop.newOrder();
		this.shop.send(this.shop.posting(order + "/payments", this.key, ShopClient.amountOf("129.00")));
		assertThatRejected(
				this.shop.send(this.shop.posting(other + "/payments", this.key, ShopClient.amountOf("129.00"))), 422,
				"key-reused");
		assertThat(this.shop.get(other + "/payments").text()).isEqualTo("[]");
	}

	@Test
	void refundSentTwiceIsGivenOnce() throws Exception {
		String order = paidOrder();
		Answer first = refund(order, "29.00");
		Answer second = refund(order, "29.00");
		assertThat(first.status()).isEqualTo(201);
		assertThat(second.status()).isEqualTo(201);
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(ShopClient.<Integer>read(this.shop.get(order + "/refunds"), "$.length()")).isEqualTo(1);
	}

	@Test
	void refundWithAnotherAmountIsRejected() throws Exception {
		String order = paidOrder();
		refund(order, "29.00");
		assertThatRejected(refund(order, "30.00"), 422, "key-reused");
		assertThat(ShopClient.<Integer>read(this.shop.get(order + "/refunds"), "$.length()")).isEqualTo(1);
	}

	@Test
	void sameReferenceOfAnotherOrderIsAnotherRefund() throws Exception {
		String order = paidOrder();
		String other = paidOrder();
		assertThat(refund(order, "29.00").status()).isEqualTo(201);
		assertThat(refund(other, "29.00").status()).isEqualTo(201);
		assertThat(ShopClient.<Integer>read(this.shop.get(other + "/refunds"), "$.length()")).isEqualTo(1);
	}

	@Test
	void logShowsWhatWasReplayed() throws Exception {
		this.shop.order(this.key, "sku-1", 1);
		this.shop.order(this.key, "sku-1", 1);
		this.shop.order(this.key, "sku-1", 2);
		List<String> outcomes = await().until(
				() -> ShopClient.read(this.shop.get("/api/log"), "$[?(@.key == '" + this.key + "')].outcome"),
				(seen) -> seen.size() == 3);
		assertThat(outcomes).containsExactly("EXECUTED", "REPLAYED", "REJECTED");
	}

	private HttpRequest.Builder ordering() {
		return this.shop.posting("/api/orders", this.key, ShopClient.orderOf("sku-1", 1));
	}

	private String paidOrder() throws Exception {
		String order = this.shop.newOrder();
		this.shop.send(this.shop.posting(order + "/payments", ShopClient.newKey(), ShopClient.amountOf("129.00")));
		return order;
	}

	private Answer refund(String order, String amount) throws Exception {
		return this.shop.send(this.shop.posting(order + "/refunds",
				"{\"reference\":\"%s\",\"amount\":%s}".formatted(this.key, amount)));
	}

	private int newOrders() throws Exception {
		return this.shop.orderCount() - this.ordersBefore;
	}

	private static void assertThatReplayed(Answer replay, Answer first) {
		assertThat(replay.status()).isEqualTo(first.status());
		assertThat(replay.text()).isEqualTo(first.text());
		assertThat(replay.header("Content-Type")).isEqualTo(first.header("Content-Type"));
		assertThat(replay.header("Idempotent-Replayed")).isEqualTo("true");
	}

	private static void assertThatRejected(Answer response, int status, String code) {
		assertThat(response.status()).isEqualTo(status);
		assertThat(response.header("Content-Type")).startsWith("application/problem+json");
		assertThat(ShopClient.<String>read(response, "$.code")).isEqualTo(code);
		assertThat(ShopClient.<String>read(response, "$.type")).isEqualTo("urn:idempotency:" + code);
		assertThat(response.header("Idempotent-Replayed")).isNull();
	}

}
