package io.idempotency.samples.shop;

import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.util.List;

import io.idempotency.it.client.Answer;
import io.idempotency.test.ConcurrentDuplicates;
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

	private Answer form;

	@BeforeEach
	void openTheForm() throws Exception {
		this.shop = new ShopClient(this.port);
		this.ordersBefore = this.shop.orderCount();
		this.form = this.shop.get("/checkout");
	}

	@Test
	void formIsNeverCachedAndCarriesATokenOfItsOwn() throws Exception {
		Answer next = this.shop.get("/checkout");
		assertThat(this.form.status()).isEqualTo(200);
		assertThat(this.form.header("Content-Type")).startsWith("text/html");
		assertThat(this.form.header("Cache-Control")).isEqualTo("no-store");
		assertThat(ShopClient.hiddenField(next, "token")).isNotEqualTo(ShopClient.hiddenField(this.form, "token"));
	}

	@Test
	void postRedirectsToAConfirmationThatCanBeRefreshed() throws Exception {
		Answer posted = this.shop.send(posting(ShopClient.hiddenField(this.form, "token"), 2));
		assertThat(posted.status()).isEqualTo(303);
		assertThat(posted.header("Cache-Control")).isEqualTo("no-store");
		String location = posted.header("Location");
		assertThat(location).matches("/checkout/[0-9A-Z]{13}");
		for (int i = 0; i < 3; i++) {
			Answer confirmation = this.shop.get(location);
			assertThat(confirmation.status()).isEqualTo(200);
			assertThat(confirmation.text()).contains(location.substring("/checkout/".length()), "2 × sku-3");
		}
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void clicksAtOnceAreOneOrderAndOneRedirect() throws Exception {
		String token = ShopClient.hiddenField(this.form, "token");
		List<Answer> answers = ConcurrentDuplicates.of(8)
			.run((index) -> this.shop.send(posting(token, 1)))
			.valuesOrFail();
		assertThat(answers).extracting(Answer::status).containsOnly(303);
		assertThat(answers).extracting((answer) -> answer.header("Location"))
			.containsOnly(answers.get(0).header("Location"));
		assertThat(answers).filteredOn((answer) -> !answer.replayed()).hasSize(1);
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void otherOrderWithTheSameTokenIsRejectedForAPersonToRead() throws Exception {
		String token = ShopClient.hiddenField(this.form, "token");
		this.shop.send(posting(token, 1));
		Answer rejected = this.shop.send(posting(token, 2));
		assertThatRejected(rejected, 422, "key-reused");
		assertThat(newOrders()).isEqualTo(1);
	}

	/** The CSRF token is masked anew each time, the form is the same. */
	@Test
	void sameOrderWithAnotherMaskOfTheCsrfTokenIsTheSameOrder() throws Exception {
		String token = ShopClient.hiddenField(this.form, "token");
		Answer first = this.shop.send(posting(token, 1));
		Answer shownAgain = this.shop.send(this.shop.request("/checkout").header("Cookie", cookie()));
		String otherMask = ShopClient.hiddenField(shownAgain, "_csrf");
		assertThat(otherMask).isNotEqualTo(ShopClient.hiddenField(this.form, "_csrf"));
		Answer second = this.shop.send(posting(token, 1, otherMask));
		assertThat(second.status()).isEqualTo(303);
		assertThat(second.header("Location")).isEqualTo(first.header("Location"));
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void tokenThatTheShopHasNotIssuedIsRejected() throws Exception {
		assertThatRejected(this.shop.send(posting("made-up", 1)), 400, "token-unknown");
		assertThatRejected(this.shop.send(posting("", 1)), 400, "key-invalid");
		assertThat(newOrders()).isZero();
	}

	@Test
	void invalidFormKeepsItsToken() throws Exception {
		String token = ShopClient.hiddenField(this.form, "token");
		assertThat(this.shop.send(posting(token, 0)).status()).isEqualTo(400);
		assertThat(this.shop.send(posting(token, 1)).status()).isEqualTo(303);
	}

	@Test
	void formOfAnotherSiteIsRejected() throws Exception {
		String body = "token=" + ShopClient.hiddenField(this.form, "token") + "&sku=sku-3&quantity=1";
		assertThat(this.shop.send(posting(body)).status()).isEqualTo(403);
		assertThat(newOrders()).isZero();
	}

	@Test
	void unknownConfirmationIsNotFound() throws Exception {
		assertThat(this.shop.get("/checkout/0000000000000").status()).isEqualTo(404);
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
		return this.form.header("Set-Cookie").split(";")[0];
	}

	private HttpRequest.Builder posting(String body) {
		return this.shop.request("/checkout")
			.header("Content-Type", "application/x-www-form-urlencoded")
			.POST(HttpRequest.BodyPublishers.ofString(body));
	}

	private int newOrders() throws Exception {
		return this.shop.orderCount() - this.ordersBefore;
	}

	private static void assertThatRejected(Answer answer, int status, String code) {
		assertThat(answer.status()).isEqualTo(status);
		assertThat(answer.header("Content-Type")).startsWith("text/html");
		assertThat(answer.text()).contains("data-code=\"" + code + "\"", "href=\"/checkout\"");
	}

}
