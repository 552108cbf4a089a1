package io.idempotency.samples.shop;

import java.net.http.HttpRequest;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.idempotency.it.client.Answer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

/** What an operator sees of the shop, and can do. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "management.prometheus.metrics.export.enabled=true")
class OperatorTests {

	private static final Pattern OUTCOME = Pattern.compile(
			"^idempotency_seconds_count\\{.*operation=\"([^\"]*)\",outcome=\"([\\w-]+)\".*} (\\S+)$",
			Pattern.MULTILINE);

	private static final String RECORDS = "/actuator/idempotency";

	/** An operation that nobody has named is called after its method. */
	private static final String INDEXED = "io.idempotency.samples.shop.recipes.IndexedOrders.place"
			+ "(java.lang.String,io.idempotency.samples.shop.recipes.RecipeRequest)";

	private static final Pattern UNNAMED = Pattern.compile(".*\\.(\\w+\\.\\w+)\\(.*\\)");

	private static final String ORDER_PLACE = "?operation=order.place";

	@LocalServerPort
	private int port;

	private ShopClient shop;

	@BeforeEach
	void openTheDoor() {
		this.shop = new ShopClient(this.port);
	}

	/** A script whose outcomes are known. */
	@Test
	void outcomesAreCountedExactly() {
		Map<String, Integer> before = outcomes();
		String key = ShopClient.newKey();
		assertThat(this.shop.order(key, "sku-1", 1).status()).isEqualTo(201);
		String order = this.shop.order(key, "sku-1", 1).header("Location");
		assertThat(this.shop.order(key, "sku-1", 2).status()).isEqualTo(422);
		post(order + "/payments", ShopClient.newKey(), ShopClient.amountOf("129.00"), 201, 201, 201);
		post(order + "/refunds", null, "{\"reference\":\"R-1\",\"amount\":29.00}", 201, 201);
		post(order + "/refunds", null, "{\"reference\":\"R-2\",\"amount\":900.00}", 422, 422);
		post("/api/recipes/page-id", null, recipe(), 201, 409, 409);
		post("/api/recipes/token", null, recipe(), 400);
		String indexed = recipe();
		post("/api/recipes/duplicate-on", null, indexed, 201);
		Answer found = asOperator(this.shop.request(RECORDS + "?operation=" + INDEXED));
		// Gone already on a slow machine: it is kept for a second.
		ShopClient.<List<String>>read(found, "$.records[*].id")
			.forEach((id) -> asOperator(this.shop.request(RECORDS + "/" + id + "?operation=" + INDEXED).DELETE()));
		post("/api/recipes/duplicate-on", null, indexed, 201);
		Map<String, Integer> added = outcomes();
		before.forEach((outcome, calls) -> added.merge(outcome, -calls, Integer::sum));
		added.values().removeIf((calls) -> calls == 0);
		assertThat(added).containsExactlyInAnyOrderEntriesOf(Map.ofEntries(entry("order.place executed", 1),
				entry("order.place replayed", 1), entry("order.place key-reused", 1), entry("order.pay executed", 1),
				entry("order.pay replayed", 2), entry("order.refund executed", 1), entry("order.refund replayed", 1),
				entry("order.refund failed", 2), entry("LibrarySchemeController.byPageId executed", 1),
				entry("LibrarySchemeController.byPageId duplicate", 2),
				entry("LibrarySchemeController.byToken token-unknown", 1), entry("IndexedOrders.place executed", 1),
				entry("IndexedOrders.place recovered", 1)));
	}

	private void post(String path, @Nullable String key, String body, int... statuses) {
		for (int status : statuses) {
			Answer answer = this.shop
				.send((key != null) ? this.shop.posting(path, key, body) : this.shop.posting(path, body));
			assertThat(answer.status()).as(answer.text()).isEqualTo(status);
		}
	}

	private static String recipe() {
		return "{\"sku\":\"sku-2\",\"quantity\":1,\"requestId\":\"%s\"}".formatted(ShopClient.newKey());
	}

	@Test
	void shopIsHealthyWithoutAServer() {
		Answer health = this.shop.get("/actuator/health");
		assertThat(health.status()).isEqualTo(200);
		assertThat(ShopClient.<String>read(health, "$.status")).isEqualTo("UP");
	}

	@Test
	void evictedKeyIsNew() {
		String key = ShopClient.newKey();
		Answer first = this.shop.order(key, "sku-1", 1);
		Answer found = asOperator(this.shop.request(RECORDS + ORDER_PLACE + "&key=" + key));
		assertThat(ShopClient.<List<String>>read(found, "$.records[*].state")).containsExactly("DONE");
		String id = ShopClient.read(found, "$.records[0].id");
		Answer evicted = asOperator(this.shop.request(RECORDS + "/" + id + ORDER_PLACE).DELETE());
		assertThat(ShopClient.<Integer>read(evicted, "$.evicted")).isEqualTo(1);
		Answer second = this.shop.order(key, "sku-1", 1);
		assertThat(second.header("Idempotent-Replayed")).isNull();
		assertThat(second.header("Location")).isNotEqualTo(first.header("Location"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "alice", "" })
	void recordsAreForTheOperatorAlone(String user) {
		int rejected = user.isEmpty() ? 401 : 403;
		assertThat(this.shop.send(as(user, this.shop.request(RECORDS + ORDER_PLACE))).status()).isEqualTo(rejected);
		String record = RECORDS + "/" + "0".repeat(64) + ORDER_PLACE;
		assertThat(this.shop.send(as(user, this.shop.request(record).DELETE())).status()).isEqualTo(rejected);
	}

	/**
	 * Calls by operation and outcome, as Prometheus reads them, without the packages of
	 * operations.
	 */
	private Map<String, Integer> outcomes() {
		Map<String, Integer> outcomes = new TreeMap<>();
		Matcher line = OUTCOME.matcher(this.shop.get("/actuator/prometheus").text());
		while (line.find()) {
			outcomes.put(UNNAMED.matcher(line.group(1)).replaceFirst("$1") + " " + line.group(2),
					(int) Double.parseDouble(line.group(3)));
		}
		return outcomes;
	}

	private static HttpRequest.Builder as(String user, HttpRequest.Builder request) {
		return user.isEmpty() ? request : ShopClient.as(request, user);
	}

	private Answer asOperator(HttpRequest.Builder request) {
		return this.shop.send(ShopClient.as(request, "operator"));
	}

}
