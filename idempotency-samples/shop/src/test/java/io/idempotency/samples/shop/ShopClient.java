package io.idempotency.samples.shop;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.jayway.jsonpath.JsonPath;

/**
 * A client of the shop that sees what comes over the wire, byte for byte.
 */
public final class ShopClient {

	private final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

	private final int port;

	public ShopClient(int port) {
		this.port = port;
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

	public static <T> T read(HttpResponse<String> response, String path) {
		return JsonPath.read(response.body(), path);
	}

	public HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(URI.create("http://localhost:" + this.port + path));
	}

	public HttpRequest.Builder posting(String path, String body) {
		return request(path).header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body));
	}

	public HttpRequest.Builder posting(String path, String key, String body) {
		return posting(path, body).header("Idempotency-Key", key);
	}

	public static HttpRequest.Builder as(HttpRequest.Builder request, String user, String password) {
		String credentials = user + ":" + password;
		return request.header("Authorization",
				"Basic " + Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8)));
	}

	public static HttpRequest.Builder as(HttpRequest.Builder request, String user) {
		return as(request, user, "demo");
	}

	public HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
		return this.http.send(request.build(), HttpResponse.BodyHandlers.ofString());
	}

	public HttpResponse<String> get(String path) throws IOException, InterruptedException {
		return send(request(path));
	}

	public HttpResponse<String> order(String key, String sku, int quantity) throws IOException, InterruptedException {
		return send(posting("/api/orders", key, orderOf(sku, quantity)));
	}

	/** Gives a token that the checkout has issued to the caller. */
	public String issuedToken(UnaryOperator<HttpRequest.Builder> caller) throws IOException, InterruptedException {
		return hiddenField(send(caller.apply(request("/checkout"))), "token");
	}

	public static String hiddenField(HttpResponse<String> page, String name) {
		Matcher field = Pattern.compile("name=\"" + name + "\" value=\"([^\"]+)\"").matcher(page.body());
		if (!field.find()) {
			throw new IllegalStateException("No field '" + name + "' in " + page.body());
		}
		return field.group(1);
	}

	/** Gives the path of a new order of one keyboard, 129.00. */
	public String newOrder() throws IOException, InterruptedException {
		return order(newKey(), "sku-1", 1).headers().firstValue("Location").orElseThrow();
	}

	public int orderCount() throws IOException, InterruptedException {
		return read(get("/api/orders"), "$.length()");
	}

	public int stockOf(String sku) throws IOException, InterruptedException {
		List<Integer> stock = read(get("/api/products"), "$[?(@.sku == '" + sku + "')].stock");
		return stock.get(0);
	}

	/** Makes a call by many threads that start together. */
	public static <T> List<T> together(int threads, Callable<T> call) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try {
			CountDownLatch ready = new CountDownLatch(threads);
			List<Future<T>> futures = new ArrayList<>();
			for (int i = 0; i < threads; i++) {
				futures.add(executor.submit(() -> {
					ready.countDown();
					ready.await();
					return call.call();
				}));
			}
			List<T> results = new ArrayList<>();
			for (Future<T> future : futures) {
				results.add(future.get());
			}
			return results;
		}
		finally {
			executor.shutdownNow();
		}
	}

}
