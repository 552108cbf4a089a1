package io.idempotency.samples.shop;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
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
		HttpResponse<String> first = this.shop.order(this.key, "sku-1", 1);
		HttpResponse<String> second = this.shop.order(this.key, "sku-1", 1);
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
		assertThatReplayed(second, first);
		assertThat(second.headers().firstValue("Location")).isEqualTo(first.headers().firstValue("Location"))
			.isPresent();
		assertThat(newOrders()).isEqualTo(1);
		assertThat(this.shop.stockOf("sku-1")).isEqualTo(stock - 1);
	}

	@Test
	void quotedKeyIsTheBareKey() throws Exception {
		HttpResponse<String> first = this.shop.order(this.key, "sku-1", 1);
		HttpResponse<String> second = this.shop.order('"' + this.key + '"', "sku-1", 1);
		assertThatReplayed(second, first);
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void sameOrderWrittenOtherwiseIsReplayed() throws Exception {
		HttpResponse<String> first = this.shop.order(this.key, "sku-1", 1);
		HttpResponse<String> second = this.shop
			.send(this.shop.posting("/api/orders", this.key, "{ \"quantity\": 1,\n  \"sku\": \"sku-1\" }"));
		assertThatReplayed(second, first);
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void sameKeyWithAnotherQuantityIsRefused() throws Exception {
		this.shop.order(this.key, "sku-1", 1);
		assertThatRefused(this.shop.order(this.key, "sku-1", 2), 422, "key-reused");
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void sameKeyOfAnotherCustomerIsAnotherOrder() throws Exception {
		HttpResponse<String> nobody = this.shop.order(this.key, "sku-1", 1);
		HttpResponse<String> alice = this.shop.send(ShopClient.as(ordering(), "alice"));
		HttpResponse<String> bob = this.shop.send(ShopClient.as(ordering(), "bob"));
		assertThat(List.of(nobody, alice, bob)).extracting(HttpResponse::statusCode).containsOnly(201);
		assertThat(List.of(nobody, alice, bob))
			.extracting((response) -> ShopClient.<String>read(response, "$.customer"))
			.containsExactly("anonymous", "alice", "bob");
		assertThat(newOrders()).isEqualTo(3);
		assertThatReplayed(this.shop.send(ShopClient.as(ordering(), "alice")), alice);
		assertThat(newOrders()).isEqualTo(3);
	}

	@Test
	void missingKeyIsRefused() throws Exception {
		assertThatRefused(this.shop.send(this.shop.posting("/api/orders", ShopClient.orderOf("sku-1", 1))), 400,
				"key-missing");
		assertThat(newOrders()).isZero();
	}

	@Test
	void twoKeysAreRefused() throws Exception {
		HttpRequest.Builder request = ordering().header("Idempotency-Key", ShopClient.newKey());
		assertThatRefused(this.shop.send(request), 400, "key-invalid");
		assertThat(newOrders()).isZero();
	}

	@Test
	void malformedKeyIsRefused() throws Exception {
		assertThatRefused(this.shop.order("\"half-a-string", "sku-1", 1), 400, "key-invalid");
		assertThat(newOrders()).isZero();
	}

	@Test
	void refusalOfTheShopIsReplayedToo() throws Exception {
		HttpResponse<String> first = this.shop.order(this.key, "sku-9", 100);
		assertThat(ShopClient.<String>read(first, "$.code")).isEqualTo("out-of-stock");
		assertThatReplayed(this.shop.order(this.key, "sku-9", 100), first);
	}

	@Test
	void invalidOrderUsesNoKey() throws Exception {
		assertThat(this.shop.order(this.key, "sku-1", 0).statusCode()).isEqualTo(400);
		HttpResponse<String> corrected = this.shop.order(this.key, "sku-1", 1);
		assertThat(corrected.statusCode()).isEqualTo(201);
		assertThat(corrected.headers().firstValue("Idempotent-Replayed")).isEmpty();
	}

	@Test
	void hundredDuplicatesAtOnceAreOneOrder() throws Exception {
		List<HttpResponse<String>> answers = ShopClient.together(100, () -> this.shop.order(this.key, "sku-1", 1));
		assertThat(newOrders()).isEqualTo(1);
		List<HttpResponse<String>> placed = answers.stream().filter((answer) -> answer.statusCode() == 201).toList();
		assertThat(placed).isNotEmpty();
		assertThat(placed).extracting(HttpResponse::body).containsOnly(placed.get(0).body());
		assertThat(placed).filteredOn((answer) -> answer.headers().firstValue("Idempotent-Replayed").isEmpty())
			.hasSize(1);
		assertThat(answers).filteredOn((answer) -> answer.statusCode() != 201).allSatisfy((answer) -> {
			assertThatRefused(answer, 409, "in-progress");
			assertThat(answer.headers().firstValueAsLong("Retry-After").orElseThrow()).isPositive();
		});
		assertThatReplayed(this.shop.order(this.key, "sku-1", 1), placed.get(0));
	}

	@Test
	void retryAfterTimeOutGetsWhatTheShopDidMeanwhile() throws Exception {
		HttpRequest.Builder impatient = ordering().header("X-Demo-Delay", "5s").timeout(Duration.ofSeconds(2));
		assertThatExceptionOfType(HttpTimeoutException.class).isThrownBy(() -> this.shop.send(impatient));
		HttpResponse<String> answer = await().atMost(Duration.ofSeconds(60))
			.until(() -> this.shop.send(ordering()), (response) -> response.statusCode() != 409);
		assertThat(answer.statusCode()).isEqualTo(201);
		assertThat(answer.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void paymentSentTwiceAtOnceIsAnsweredTwiceAndBookedOnce() throws Exception {
		String order = this.shop.newOrder();
		List<HttpResponse<String>> answers = ShopClient.together(4,
				() -> this.shop.send(this.shop.posting(order + "/payments", this.key, ShopClient.amountOf("129.00"))
					.header("X-Demo-Delay", "500ms")));
		assertThat(answers).extracting(HttpResponse::statusCode).containsOnly(201);
		assertThat(answers).extracting(HttpResponse::body).containsOnly(answers.get(0).body());
		assertThat(answers).filteredOn((answer) -> answer.headers().firstValue("Idempotent-Replayed").isEmpty())
			.hasSize(1);
		assertThat(ShopClient.<Integer>read(this.shop.get(order + "/payments"), "$.length()")).isEqualTo(1);
	}

	@Test
	void keyOfOneOrdersPaymentPaysNoOtherOrder() throws Exception {
		String order = this.shop.newOrder();
		String other = this.shop.newOrder();
		this.shop.send(this.shop.posting(order + "/payments", this.key, ShopClient.amountOf("129.00")));
		assertThatRefused(
				this.shop.send(this.shop.posting(other + "/payments", this.key, ShopClient.amountOf("129.00"))), 422,
				"key-reused");
		assertThat(this.shop.get(other + "/payments").body()).isEqualTo("[]");
	}

	@Test
	void refundSentTwiceIsGivenOnce() throws Exception {
		String order = paidOrder();
		HttpResponse<String> first = refund(order, "29.00");
		HttpResponse<String> second = refund(order, "29.00");
		assertThat(first.statusCode()).isEqualTo(201);
		assertThat(second.statusCode()).isEqualTo(201);
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(ShopClient.<Integer>read(this.shop.get(order + "/refunds"), "$.length()")).isEqualTo(1);
	}

	@Test
	void refundWithAnotherAmountIsRefused() throws Exception {
		String order = paidOrder();
		refund(order, "29.00");
		assertThatRefused(refund(order, "30.00"), 422, "key-reused");
		assertThat(ShopClient.<Integer>read(this.shop.get(order + "/refunds"), "$.length()")).isEqualTo(1);
	}

	@Test
	void sameReferenceOfAnotherOrderIsAnotherRefund() throws Exception {
		String order = paidOrder();
		String other = paidOrder();
		assertThat(refund(order, "29.00").statusCode()).isEqualTo(201);
		assertThat(refund(other, "29.00").statusCode()).isEqualTo(201);
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
		assertThat(outcomes).containsExactly("EXECUTED", "REPLAYED", "REFUSED");
	}

	private HttpRequest.Builder ordering() {
		return this.shop.posting("/api/orders", this.key, ShopClient.orderOf("sku-1", 1));
	}

	private String paidOrder() throws Exception {
		String order = this.shop.newOrder();
		this.shop.send(this.shop.posting(order + "/payments", ShopClient.newKey(), ShopClient.amountOf("129.00")));
		return order;
	}

	private HttpResponse<String> refund(String order, String amount) throws Exception {
		return this.shop.send(this.shop.posting(order + "/refunds",
				"{\"reference\":\"%s\",\"amount\":%s}".formatted(this.key, amount)));
	}

	private int newOrders() throws Exception {
		return this.shop.orderCount() - this.ordersBefore;
	}

	private static void assertThatReplayed(HttpResponse<String> replay, HttpResponse<String> first) {
		assertThat(replay.statusCode()).isEqualTo(first.statusCode());
		assertThat(replay.body()).isEqualTo(first.body());
		assertThat(replay.headers().firstValue("Content-Type")).isEqualTo(first.headers().firstValue("Content-Type"));
		assertThat(replay.headers().firstValue("Idempotent-Replayed")).hasValue("true");
	}

	private static void assertThatRefused(HttpResponse<String> response, int status, String code) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.headers().firstValue("Content-Type").orElseThrow()).startsWith("application/problem+json");
		assertThat(ShopClient.<String>read(response, "$.code")).isEqualTo(code);
		assertThat(ShopClient.<String>read(response, "$.type")).isEqualTo("urn:idempotency:" + code);
		assertThat(response.headers().firstValue("Idempotent-Replayed")).isEmpty();
	}

}
