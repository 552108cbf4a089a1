package io.idempotency.samples.shop;

import java.net.http.HttpRequest;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.jayway.jsonpath.JsonPath;
import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;

/**
 * What customers send to the shop.
 */
public final class ShopClient {

	private final Client client;

	public ShopClient(int port) {
		this.client = new Client(port);
	}

	public static String newKey() {
		return UUID.randomUUID().toString();
	}

	public static String orderOf(String sku, int quantity) {
		return "{\"sku\":\"%s\",\"quantity\":%d}".formatted(sku, quantity);
	}

	public static String amountOf(String amount) {
		return "{\"amount\":%s}".formatted(amount);
	}

	public static <T> T read(Answer answer, String path) {
		return JsonPath.read(answer.text(), path);
	}

	public HttpRequest.Builder request(String path) {
		return this.client.to(path);
	}

	public HttpRequest.Builder posting(String path, String body) {
		return request(path).header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
	}

	public HttpRequest.Builder posting(String path, String key, String body) {
		return posting(path, body).header("Idempotency-Key", key);
	}

	public static HttpRequest.Builder as(HttpRequest.Builder request, String user, String password) {
		Client.as(user, password).accept(request);
		return request;
	}

	public static HttpRequest.Builder as(HttpRequest.Builder request, String user) {
		return as(request, user, "demo");
	}

	public Answer send(HttpRequest.Builder request) {
		return this.client.send(request);
	}

	public void hangUp(HttpRequest.Builder request, Runnable meanwhile) {
		this.client.hangUp(request, meanwhile);
	}

	public Answer get(String path) {
		return send(request(path));
	}

	public Answer order(String key, String sku, int quantity) {
		return send(posting("/api/orders", key, orderOf(sku, quantity)));
	}

	public static String hiddenField(Answer page, String name) {
		Matcher field = Pattern.compile("name=\"" + name + "\" value=\"([^\"]+)\"").matcher(page.text());
		if (!field.find()) {
			throw new IllegalStateException("No field '" + name + "' in " + page.text());
		}
		return field.group(1);
	}

	/** Gives the path of a new order of one keyboard, 129.00. */
	public String newOrder() {
		return order(newKey(), "sku-1", 1).header("Location");
	}

	public int orderCount() {
		return read(get("/api/orders"), "$.length()");
	}

	public int stockOf(String sku) {
		List<Integer> stock = read(get("/api/products"), "$[?(@.sku == '" + sku + "')].stock");
		return stock.get(0);
	}

}
