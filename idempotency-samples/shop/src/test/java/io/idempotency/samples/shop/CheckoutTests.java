package io.idempotency.samples.shop;

import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Post, redirect, get, as a browser does it.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class CheckoutTests {

	@LocalServerPort
	private int port;

	private ShopClient shop;

	private int ordersBefore;

	private HttpResponse<String> form;

	@BeforeEach
	void openTheForm() throws Exception {
		this.shop = new ShopClient(this.port);
		this.ordersBefore = this.shop.orderCount();
		this.form = this.shop.get("/checkout");
	}

	@Test
	void formIsNeverCachedAndCarriesATokenOfItsOwn() throws Exception {
		HttpResponse<String> next = this.shop.get("/checkout");
		assertThat(this.form.statusCode()).isEqualTo(200);
		assertThat(this.form.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/html");
		assertThat(this.form.headers().firstValue("Cache-Control")).hasValue("no-store");
		assertThat(ShopClient.hiddenField(next, "token")).isNotEqualTo(ShopClient.hiddenField(this.form, "token"));
	}

	@Test
	void postRedirectsToAConfirmationThatCanBeRefreshed() throws Exception {
		HttpResponse<String> posted = this.shop.send(posting(ShopClient.hiddenField(this.form, "token"), 2));
		assertThat(posted.statusCode()).isEqualTo(303);
		assertThat(posted.headers().firstValue("Cache-Control")).hasValue("no-store");
		String location = posted.headers().firstValue("Location").orElseThrow();
		assertThat(location).matches("/checkout/[0-9A-Z]{13}");
		for (int i = 0; i < 3; i++) {
			HttpResponse<String> confirmation = this.shop.get(location);
			assertThat(confirmation.statusCode()).isEqualTo(200);
			assertThat(confirmation.body()).contains(location.substring("/checkout/".length()), "2 × sku-3");
		}
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void clicksAtOnceAreOneOrderAndOneRedirect() throws Exception {
		String token = ShopClient.hiddenField(this.form, "token");
		List<HttpResponse<String>> answers = ShopClient.together(8, () -> this.shop.send(posting(token, 1)));
		assertThat(answers).extracting(HttpResponse::statusCode).containsOnly(303);
		assertThat(answers).extracting((answer) -> answer.headers().firstValue("Location").orElseThrow())
			.containsOnly(answers.get(0).headers().firstValue("Location").orElseThrow());
		assertThat(answers).filteredOn((answer) -> answer.headers().firstValue("Idempotent-Replayed").isEmpty())
			.hasSize(1);
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void otherOrderWithTheSameTokenIsRefusedForAPersonToRead() throws Exception {
		String token = ShopClient.hiddenField(this.form, "token");
		this.shop.send(posting(token, 1));
		HttpResponse<String> refused = this.shop.send(posting(token, 2));
		assertThatRefused(refused, 422, "key-reused");
		assertThat(newOrders()).isEqualTo(1);
	}

	/** The CSRF token is masked anew each time, the form is the same. */
	@Test
	void sameOrderWithAnotherMaskOfTheCsrfTokenIsTheSameOrder() throws Exception {
		String token = ShopClient.hiddenField(this.form, "token");
		HttpResponse<String> first = this.shop.send(posting(token, 1));
		HttpResponse<String> shownAgain = this.shop.send(this.shop.request("/checkout").header("Cookie", cookie()));
		String otherMask = ShopClient.hiddenField(shownAgain, "_csrf");
		assertThat(otherMask).isNotEqualTo(ShopClient.hiddenField(this.form, "_csrf"));
		HttpResponse<String> second = this.shop.send(posting(token, 1, otherMask));
		assertThat(second.statusCode()).isEqualTo(303);
		assertThat(second.headers().firstValue("Location")).isEqualTo(first.headers().firstValue("Location"));
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void tokenThatTheShopHasNotIssuedIsRefused() throws Exception {
		assertThatRefused(this.shop.send(posting("made-up", 1)), 400, "token-unknown");
		assertThatRefused(this.shop.send(posting("", 1)), 400, "key-invalid");
		assertThat(newOrders()).isZero();
	}

	@Test
	void invalidFormKeepsItsToken() throws Exception {
		String token = ShopClient.hiddenField(this.form, "token");
		assertThat(this.shop.send(posting(token, 0)).statusCode()).isEqualTo(400);
		assertThat(this.shop.send(posting(token, 1)).statusCode()).isEqualTo(303);
	}

	@Test
	void formOfAnotherSiteIsRefused() throws Exception {
		String body = "token=" + ShopClient.hiddenField(this.form, "token") + "&sku=sku-3&quantity=1";
		assertThat(this.shop.send(posting(body)).statusCode()).isEqualTo(403);
		assertThat(newOrders()).isZero();
	}

	@Test
	void unknownConfirmationIsNotFound() throws Exception {
		assertThat(this.shop.get("/checkout/0000000000000").statusCode()).isEqualTo(404);
	}

	private HttpRequest.Builder posting(String token, int quantity) {
		return posting(token, quantity, ShopClient.hiddenField(this.form, "_csrf"));
	}

	private HttpRequest.Builder posting(String token, int quantity, String csrf) {
		return posting("token=" + token + "&sku=sku-3&quantity=" + quantity + "&_csrf="
				+ URLEncoder.encode(csrf, StandardCharsets.UTF_8))
			.header("Cookie", cookie());
	}

	private String cookie() {
		return this.form.headers().firstValue("Set-Cookie").orElseThrow().split(";")[0];
	}

	private HttpRequest.Builder posting(String body) {
		return this.shop.request("/checkout")
			.header("Content-Type", "application/x-www-form-urlencoded")
			.POST(HttpRequest.BodyPublishers.ofString(body));
	}

	private int newOrders() throws Exception {
		return this.shop.orderCount() - this.ordersBefore;
	}

	private static void assertThatRefused(HttpResponse<String> answer, int status, String code) {
		assertThat(answer.statusCode()).isEqualTo(status);
		assertThat(answer.headers().firstValue("Content-Type").orElseThrow()).startsWith("text/html");
		assertThat(answer.body()).contains("data-code=\"" + code + "\"", "href=\"/checkout\"");
	}

}
