package io.idempotency.samples.shop.recipes;

import java.io.UncheckedIOException;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import io.idempotency.it.client.Answer;
import io.idempotency.samples.shop.NewOrder;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;
import io.idempotency.samples.shop.ShopClient;
import io.idempotency.samples.shop.numbers.OrderNumbers;
import io.idempotency.test.ConcurrentDuplicates;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * All schemes on their common surface.
 */
class RecipesTests extends RecipeShop {

	@Autowired
	private Orders orders;

	@Autowired
	private OrderNumbers numbers;

	static Stream<String> all() {
		return Stream.concat(LIBRARY.stream(), DATABASE.stream());
	}

	static Stream<String> database() {
		return DATABASE.stream();
	}

	/** Those that find the order of an earlier call in the table. */
	static Stream<String> finding() {
		return Stream.concat(Stream.of("lock"), DATABASE.stream());
	}

	@Test
	void everySchemeIsListed() throws Exception {
		Answer list = this.shop.get("/api/recipes");
		assertThat(ShopClient.<List<String>>read(list, "$[*].id")).containsExactlyElementsOf(all().toList());
		assertThat(ShopClient.<List<String>>read(list, "$[?(@.where == 'database')].id"))
			.containsExactlyElementsOf(DATABASE);
		assertThat(ShopClient.<List<String>>read(list, "$[*]['title','guarantee','duplicateSees']")).hasSize(13);
		assertThat(ShopClient.<List<String>>read(list, "$[?(@.key == 'header')].id")).containsExactly("header-key");
		assertThat(ShopClient.<List<String>>read(list, "$[?(@.ticket)].ticket")).contains("/idempotency/tokens",
				"/api/recipes/order-number/numbers");
	}

	@ParameterizedTest
	@MethodSource("all")
	void duplicatesAtOnceAreOneOrder(String scheme) throws Exception {
		String sku = newProduct(100);
		String requestId = newRequestId(scheme, "alice");
		List<Answer> answers = ConcurrentDuplicates.of(32)
			.run((index) -> order(scheme, "alice", requestId, sku, 2))
			.valuesOrFail();
		assertThat(ordersOf(sku)).isEqualTo(1);
		assertThat(stockOf(sku)).isEqualTo(98);
		assertThat(answers).extracting(Answer::status).contains(201).isSubsetOf(200, 201, 409);
		assertThat(answers).filteredOn(RecipeShop::isOrder)
			.extracting(RecipeShop::orderNo)
			.containsOnly(onlyOrder(sku));
		assertThat(answers).filteredOn((answer) -> !isOrder(answer))
			.extracting(RecipeShop::code)
			.isSubsetOf("in-progress", "duplicate");
	}

	@ParameterizedTest
	@MethodSource("all")
	void laterDuplicateGetsTheOrderOrIsRejected(String scheme) throws Exception {
		String sku = newProduct(100);
		String requestId = newRequestId(scheme, "alice");
		Answer first = order(scheme, "alice", requestId, sku, 1);
		Answer second = order(scheme, "alice", requestId, sku, 1);
		assertThat(first.status()).isEqualTo(201);
		if (scheme.equals("page-id")) {
			assertThat(code(second)).isEqualTo("duplicate");
			assertThat(ShopClient.<Integer>read(second, "$.attempts")).isEqualTo(2);
		}
		else {
			assertThat(isOrder(second)).isTrue();
			assertThat(orderNo(second)).isEqualTo(orderNo(first));
			assertThat(second.header("Location")).isEqualTo(first.header("Location"));
		}
		assertThat(ordersOf(sku)).isEqualTo(1);
	}

	@ParameterizedTest
	@MethodSource("all")
	void moreBuyersThanPiecesSellEveryPieceOnce(String scheme) throws Exception {
		String sku = newProduct(5);
		Queue<String[]> buyers = new ConcurrentLinkedQueue<>();
		for (int i = 0; i < 32; i++) {
			String customer = "buyer-" + i;
			buyers.add(new String[] { customer, newRequestId(scheme, customer) });
		}
		List<Integer> answers = ConcurrentDuplicates.of(32).run((index) -> {
			String[] buyer = buyers.remove();
			return order(scheme, buyer[0], buyer[1], sku, 1).status();
		}).valuesOrFail();
		assertThat(answers).filteredOn((status) -> status == 201).hasSize(5);
		assertThat(answers).filteredOn((status) -> status != 201).containsOnly(409);
		assertThat(stockOf(sku)).isZero();
		assertThat(ordersOf(sku)).isEqualTo(5);
	}

	@ParameterizedTest
	@MethodSource("finding")
	void sameRequestForSomethingElseIsRejected(String scheme) throws Exception {
		String sku = newProduct(100);
		String requestId = newRequestId(scheme, null);
		order(scheme, null, requestId, sku, 1);
		Answer rejected = order(scheme, null, requestId, sku, 2);
		assertThat(rejected.status()).isEqualTo(422);
		assertThat(code(rejected)).isEqualTo("request-reused");
		assertThat(stockOf(sku)).isEqualTo(99);
	}

	@ParameterizedTest
	@MethodSource("finding")
	void failedOrderCanBeTriedAgain(String scheme) throws Exception {
		String sku = newProduct(0);
		String requestId = newRequestId(scheme, null);
		assertThat(code(order(scheme, null, requestId, sku, 1))).isEqualTo("out-of-stock");
		this.jdbc.sql("update product set stock = 1 where sku = :sku").param("sku", sku).update();
		assertThat(order(scheme, null, requestId, sku, 1).status()).isEqualTo(201);
		assertThat(stockOf(sku)).isZero();
	}

	@ParameterizedTest
	@ValueSource(strings = { "bloom", "for-update", "query", "state-machine", "stock", "version", "lock", "page-id" })
	void requestBelongsToItsCustomer(String scheme) throws Exception {
		String sku = newProduct(100);
		String requestId = ShopClient.newKey();
		for (String customer : new String[] { null, "alice", "bob" }) {
			assertThat(order(scheme, customer, requestId, sku, 1).status()).isEqualTo(201);
		}
		assertThat(ordersOf(sku)).isEqualTo(3);
	}

	@ParameterizedTest
	@MethodSource("database")
	void orderIsFoundByTheNameOfItsCaller(String scheme) throws Exception {
		String requestId = newRequestId(scheme, "alice");
		String path = "/api/recipes/" + scheme + "/orders/" + requestId;
		Answer before = this.shop.send(ShopClient.as(this.shop.request(path), "alice"));
		assertThat(before.status()).isEqualTo(404);
		assertThat(code(before)).isEqualTo("unknown-request");
		Answer placed = order(scheme, "alice", requestId, newProduct(1), 1);
		assertThat(this.shop.send(ShopClient.as(this.shop.request(path), "alice")).text()).isEqualTo(placed.text());
		assertThat(this.shop.get(path).status()).isEqualTo(404);
	}

	@Test
	void clientThatTimedOutAsksWhatBecameOfItsCall() throws Exception {
		String sku = newProduct(10);
		String requestId = ShopClient.newKey();
		assertThatExceptionOfType(UncheckedIOException.class).isThrownBy(() -> this.shop.send(
				ordering("query", null, requestId, sku, 1).header("X-Demo-Delay", "5s").timeout(Duration.ofSeconds(2))))
			.withCauseInstanceOf(HttpTimeoutException.class);
		Answer found = await().atMost(Duration.ofSeconds(60))
			.until(() -> this.shop.get("/api/recipes/query/orders/" + requestId), (answer) -> answer.status() == 200);
		Answer again = order("query", null, requestId, sku, 1);
		assertThat(again.status()).isEqualTo(200);
		assertThat(orderNo(again)).isEqualTo(orderNo(found));
		assertThat(ordersOf(sku)).isEqualTo(1);
	}

	@ParameterizedTest
	@MethodSource("all")
	void logTellsTheOrderFromItsDuplicate(String scheme) throws Exception {
		String sku = newProduct(10);
		String requestId = newRequestId(scheme, null);
		order(scheme, null, requestId, sku, 1);
		order(scheme, null, requestId, sku, 1);
		List<String> outcomes = await().until(
				() -> ShopClient.read(this.shop.get("/api/log"), "$[?(@.key == '" + requestId + "')].outcome"),
				(found) -> found.size() == 2);
		assertThat(outcomes).containsExactly("EXECUTED", scheme.equals("page-id") ? "REJECTED" : "REPLAYED");
	}

	@Test
	void orderHasTheNumberThatWasMadeForIt() throws Exception {
		String number = newRequestId("order-number", "alice");
		assertThat(number).matches("[0-9A-Z]{13}");
		assertThat(orderNo(order("order-number", "alice", number, newProduct(1), 1))).isEqualTo(number);
	}

	@Test
	void numberThatWasMadeForSomebodyElseIsRejected() throws Exception {
		String sku = newProduct(10);
		String number = newRequestId("order-number", "alice");
		for (String foreign : List.of(number, "0000000000000")) {
			Answer rejected = order("order-number", "bob", foreign, sku, 1);
			assertThat(rejected.status()).isEqualTo(422);
			assertThat(code(rejected)).isEqualTo("unknown-order-number");
		}
		assertThat(ordersOf(sku)).isZero();
	}

	@Test
	void indexAnswersForWhatTheStoreDoesNotKnow() throws Exception {
		String sku = newProduct(10);
		String requestId = ShopClient.newKey();
		Order placed = this.orders
			.place(new NewOrder(this.numbers.next(), "alice", sku, 1, IndexedOrders.ID, requestId));
		List<Answer> answers = ConcurrentDuplicates.of(8)
			.run((index) -> order(IndexedOrders.ID, "alice", requestId, sku, 1))
			.valuesOrFail();
		assertThat(answers).extracting(Answer::status).contains(201).isSubsetOf(201, 409);
		assertThat(answers).filteredOn(RecipeShop::isOrder)
			.extracting(RecipeShop::orderNo)
			.containsOnly(placed.orderNo());
		assertThat(ordersOf(sku)).isEqualTo(1);
		assertThat(stockOf(sku)).isEqualTo(9);
	}

	@Test
	void businessFieldsKnowTheOrderByCustomerAndProduct() throws Exception {
		String sku = newProduct(10);
		Answer first = order("business-fields", "alice", ShopClient.newKey(), sku, 1);
		Answer second = order("business-fields", "alice", ShopClient.newKey(), sku, 1);
		assertThat(second.header("Idempotent-Replayed")).isEqualTo("true");
		assertThat(second.text()).isEqualTo(first.text());
		order("business-fields", "bob", ShopClient.newKey(), sku, 1);
		order("business-fields", null, ShopClient.newKey(), sku, 1);
		assertThat(ordersOf(sku)).isEqualTo(3);
		String other = newProduct(10);
		assertThat(order("business-fields", "alice", ShopClient.newKey(), other, 1).status()).isEqualTo(201);
		assertThat(ordersOf(other)).isEqualTo(1);
	}

	@Test
	void tokenOfSomebodyElseIsRejected() throws Exception {
		String sku = newProduct(10);
		String token = newRequestId("token", "alice");
		for (String foreign : List.of(token, ShopClient.newKey())) {
			Answer rejected = order("token", "bob", foreign, sku, 1);
			assertThat(rejected.status()).isEqualTo(400);
			assertThat(code(rejected)).isEqualTo("token-unknown");
		}
		assertThat(order("token", "alice", token, sku, 1).status()).isEqualTo(201);
	}

	@Test
	void attemptsWithTheIdOfAPageAreCounted() throws Exception {
		String sku = newProduct(10);
		String requestId = ShopClient.newKey();
		order("page-id", null, requestId, sku, 1);
		for (int attempt = 2; attempt <= 4; attempt++) {
			Answer rejected = order("page-id", null, requestId, sku, 1);
			assertThat(rejected.status()).isEqualTo(409);
			assertThat(ShopClient.<Integer>read(rejected, "$.attempts")).isEqualTo(attempt);
		}
		assertThat(ordersOf(sku)).isEqualTo(1);
	}

	@Test
	void unknownSchemeIsRejected() throws Exception {
		Answer rejected = order("hope", null, ShopClient.newKey(), newProduct(1), 1);
		assertThat(rejected.status()).isEqualTo(404);
		assertThat(code(rejected)).isEqualTo("unknown-scheme");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "two words", "ünsafe" })
	void invalidRequestIdIsRejected(String requestId) throws Exception {
		String body = "{\"sku\":\"sku-1\",\"quantity\":1,\"requestId\":\"%s\"}".formatted(requestId);
		Answer rejected = this.shop.send(this.shop.posting("/api/recipes/query", body));
		assertThat(rejected.status()).isEqualTo(400);
		assertThat(ShopClient.<String>read(rejected, "$.fields.requestId")).isNotBlank();
	}

	private String onlyOrder(String sku) {
		return this.jdbc.sql("select order_no from customer_order where sku = :sku")
			.param("sku", sku)
			.query(String.class)
			.single();
	}

}
