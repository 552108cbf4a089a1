package io.idempotency.samples.shop.recipes;

import java.io.IOException;
import java.net.http.HttpRequest;
import java.util.List;
import java.util.UUID;

import io.idempotency.it.client.Answer;
import io.idempotency.samples.shop.ShopClient;
import org.junit.jupiter.api.BeforeEach;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetailsService;
import org.springframework.test.context.bean.override.convention.TestBean;

/**
 * A shop with as many customers as one likes, whose shelves a test fills itself.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
abstract class RecipeShop {

	static final List<String> DATABASE = List.of("bloom", "for-update", "order-number", "query", "state-machine",
			"stock", "version");

	static final List<String> LIBRARY = List.of("header-key", "page-id", "lock", "business-fields", "token",
			"duplicate-on");

	@TestBean(methodName = "everybody")
	UserDetailsService customers;

	@Autowired
	JdbcClient jdbc;

	@LocalServerPort
	private int port;

	ShopClient shop;

	static UserDetailsService everybody() {
		return (name) -> User.withUsername(name).password("{noop}demo").roles("CUSTOMER").build();
	}

	@BeforeEach
	void openTheDoor() {
		this.shop = new ShopClient(this.port);
	}

	/** Puts a product of its own into the shop. */
	String newProduct(int stock) {
		String sku = "test-" + UUID.randomUUID();
		this.jdbc.sql("insert into product (sku, name, price, stock) values (:sku, 'Test', 10.00, :stock)")
			.param("sku", sku.substring(0, 20))
			.param("stock", stock)
			.update();
		return sku.substring(0, 20);
	}

	int stockOf(String sku) {
		return this.jdbc.sql("select stock from product where sku = :sku")
			.param("sku", sku)
			.query(Integer.class)
			.single();
	}

	int ordersOf(String sku) {
		return this.jdbc.sql("select count(*) from customer_order where sku = :sku")
			.param("sku", sku)
			.query(Integer.class)
			.single();
	}

	/** Gives what the client of a scheme calls a new order. */
	String newRequestId(String scheme, @Nullable String customer) throws IOException, InterruptedException {
		return switch (scheme) {
			case "token" ->
				ShopClient.read(this.shop.send(as(this.shop.posting("/idempotency/tokens", ""), customer)), "$.token");
			case "order-number" -> ShopClient.read(
					this.shop.send(as(this.shop.posting("/api/recipes/order-number/numbers", ""), customer)),
					"$.orderNo");
			default -> ShopClient.newKey();
		};
	}

	/** As the page does it: the name of the call is sent as a header, too. */
	HttpRequest.Builder ordering(String scheme, @Nullable String customer, String requestId, String sku, int quantity) {
		String body = "{\"sku\":\"%s\",\"quantity\":%d,\"requestId\":\"%s\"}".formatted(sku, quantity, requestId);
		return as(this.shop.posting("/api/recipes/" + scheme, requestId, body), customer);
	}

	Answer order(String scheme, @Nullable String customer, String requestId, String sku, int quantity)
			throws IOException, InterruptedException {
		return this.shop.send(ordering(scheme, customer, requestId, sku, quantity));
	}

	static HttpRequest.Builder as(HttpRequest.Builder request, @Nullable String customer) {
		return (customer != null) ? ShopClient.as(request, customer) : request;
	}

	static boolean isOrder(Answer answer) {
		return answer.status() == 200 || answer.status() == 201;
	}

	static String orderNo(Answer answer) {
		return ShopClient.read(answer, "$.orderNo");
	}

	static String code(Answer answer) {
		return ShopClient.read(answer, "$.code");
	}

}
