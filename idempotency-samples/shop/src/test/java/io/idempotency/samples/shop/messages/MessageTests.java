package io.idempotency.samples.shop.messages;

import java.util.List;
import java.util.Map;

import io.idempotency.it.client.Answer;
import io.idempotency.samples.shop.ShopClient;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The warehouse hears of an order as often as the broker likes, and acts once. Messages
 * arrive in their order, so what comes after a message says that it was processed.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
abstract class MessageTests {

	private static final int PATIENCE = 60;

	@LocalServerPort
	private int port;

	@Autowired
	private JdbcClient jdbc;

	ShopClient shop;

	@BeforeEach
	void openTheDoor() {
		this.shop = new ShopClient(this.port);
	}

	/** What the page calls the broker. */
	abstract String broker();

	@Test
	void messageThatArrivesThreeTimesHasItsEffectsOnce() {
		String first = orderNo(order(ShopClient.newKey(), "3"));
		String second = orderNo(order(ShopClient.newKey(), "1"));
		awaitLine(second, 1);
		assertThat(line(first)).isEqualTo(of(first, 3));
	}

	@Test
	void replayedOrderIsNotToldAgain() {
		String key = ShopClient.newKey();
		Answer first = order(key, "1");
		Answer replayed = order(key, "1");
		assertThat(replayed.header("Idempotent-Replayed")).isEqualTo("true");
		awaitLine(orderNo(order(ShopClient.newKey(), "1")), 1);
		assertThat(line(orderNo(first))).isEqualTo(of(orderNo(first), 1));
	}

	@Test
	void orderThatWasNotPlacedIsNotTold() {
		awaitLine(orderNo(order(ShopClient.newKey(), "1")), 1);
		int before = deliveries();
		assertThat(this.shop.order(ShopClient.newKey(), "sku-9", 100).status()).isEqualTo(409);
		awaitLine(orderNo(order(ShopClient.newKey(), "1")), 1);
		assertThat(deliveries()).isEqualTo(before + 1);
	}

	@Test
	void brokerIsNamedAndTheShopIsHealthy() {
		assertThat(ShopClient.<List<String>>read(this.shop.get("/api/messages"), "$.brokers"))
			.containsExactly(broker());
		assertThat(this.shop.get("/actuator/health").text()).contains("\"status\":\"UP\"");
	}

	private Answer order(String key, String deliveries) {
		Answer answer = this.shop.send(this.shop.posting("/api/orders", key, ShopClient.orderOf("sku-1", 1))
			.header("X-Demo-Deliveries", deliveries));
		assertThat(answer.status()).isEqualTo(201);
		return answer;
	}

	private static String orderNo(Answer order) {
		return ShopClient.read(order, "$.orderNo");
	}

	private int deliveries() {
		return this.jdbc.sql("select count(*) from order_event where event = 'DELIVERED'")
			.query(Integer.class)
			.single();
	}

	private void awaitLine(String orderNo, int deliveries) {
		await().atMost(PATIENCE, SECONDS)
			.untilAsserted(() -> assertThat(line(orderNo)).isEqualTo(of(orderNo, deliveries)));
	}

	private Map<String, Object> line(String orderNo) {
		List<Map<String, Object>> lines = ShopClient.read(this.shop.get("/api/messages"),
				"$.messages[?(@.orderNo == '" + orderNo + "')]");
		return lines.isEmpty() ? Map.of() : lines.get(0);
	}

	private static Map<String, Object> of(String orderNo, int deliveries) {
		return Map.of("orderNo", orderNo, "delivered", deliveries, "reserved", 1, "mailed", 1, "counted", 1);
	}

}
