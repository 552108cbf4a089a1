package io.idempotency.samples.shop.browser;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import com.microsoft.playwright.options.BoundingBox;
import io.idempotency.samples.shop.ShopApplication;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A form without a script: hidden token, post, redirect, get.
 */
@SpringBootTest(classes = ShopApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class CheckoutBrowserTests {

	private static final String CHECKOUT = "**/checkout";

	@RegisterExtension
	static final Chromium chromium = new Chromium();

	@LocalServerPort
	private int port;

	@Autowired
	private JdbcClient jdbc;

	private final List<String> posts = new CopyOnWriteArrayList<>();

	private long ordersBefore;

	private Page page;

	@BeforeEach
	void open() {
		this.ordersBefore = orders();
		this.page = openForm();
	}

	@Test
	void postIsRedirectedToTheConfirmation() {
		chromium.screenshot(this.page, "checkout-form");
		orderNow(this.page).click();
		assertThatShowsNewestOrder(this.page);
		assertThat(this.page.url()).endsWith("/checkout/" + newestOrder());
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(this.page, "checkout-confirmation");
	}

	@Test
	void refreshAfterThePostSendsNothingAgain() {
		orderNow(this.page).click();
		assertThat(confirmed(this.page)).isVisible();
		this.page.reload();
		this.page.reload();
		assertThatShowsNewestOrder(this.page);
		assertThat(this.posts).hasSize(1);
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void backButtonLeadsToAFormWithAnotherToken() {
		String first = token(this.page).inputValue();
		orderNow(this.page).click();
		assertThat(confirmed(this.page)).isVisible();
		this.page.goBack();
		assertThat(token(this.page)).not().hasValue(first);
		chromium.screenshot(this.page, "checkout-back");
		this.page.goForward();
		assertThatShowsNewestOrder(this.page);
		assertThat(this.posts).hasSize(1);
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void doubleClickPlacesOneOrderAndShowsIt() {
		// Slow enough for the second click to come while the first post is under way.
		this.page.route(CHECKOUT, (route) -> resumeSlowly(route, "5s"));
		// By the mouse itself: the click of a locator waits for the page that it leads
		// to.
		BoundingBox button = orderNow(this.page).boundingBox();
		this.page.mouse().click(button.x + button.width / 2, button.y + button.height / 2);
		this.page.waitForCondition(() -> this.posts.size() == 1);
		this.page.mouse().click(button.x + button.width / 2, button.y + button.height / 2);
		assertThatShowsNewestOrder(this.page);
		assertThat(this.posts).hasSize(2);
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(this.page, "checkout-double-click");
	}

	@Test
	void twoTabsWithOneTokenPlaceOneOrderAndShowIt() {
		Page other = openForm();
		other.setContent(this.page.content());
		assertThat(token(other)).hasValue(token(this.page).inputValue());
		orderNow(this.page).click();
		assertThat(confirmed(this.page)).isVisible();
		orderNow(other).click();
		assertThatShowsNewestOrder(other);
		assertThatShowsNewestOrder(this.page);
		assertThat(this.posts).hasSize(2);
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(other, "checkout-second-tab");
	}

	@Test
	void retryAfterALostAnswerShowsTheOrderThatWasPlaced() {
		List<APIResponse> answers = new CopyOnWriteArrayList<>();
		this.page.route(CHECKOUT, (route) -> {
			if ("POST".equals(route.request().method()) && answers.isEmpty()) {
				answers.add(route.fetch(new Route.FetchOptions().setMaxRedirects(0)));
				route.fulfill(new Route.FulfillOptions().setStatus(204));
				return;
			}
			route.resume();
		});
		// An answer of 204 leaves the browser on the form, as one that never comes does.
		orderNow(this.page).click();
		this.page.waitForCondition(() -> !answers.isEmpty());
		assertThat(answers.get(0).status()).isEqualTo(303);
		orderNow(this.page).click();
		assertThatShowsNewestOrder(this.page);
		assertThat(this.posts).hasSize(2);
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void tokenThatTheShopHasNotIssuedOrdersNothing() {
		token(this.page).evaluate("(field) => field.value = 'made-by-somebody-else'");
		orderNow(this.page).click();
		assertThat(this.page.locator("#code")).hasAttribute("data-code", "token-unknown");
		assertThat(newOrders()).isZero();
		chromium.screenshot(this.page, "checkout-unknown-token");
		this.page.getByText("Open a new form").click();
		orderNow(this.page).click();
		assertThat(confirmed(this.page)).isVisible();
		assertThat(newOrders()).isEqualTo(1);
	}

	private Page openForm() {
		Page opened = chromium.newPage();
		opened.onRequest((request) -> {
			if ("POST".equals(request.method())) {
				this.posts.add(request.url());
			}
		});
		opened.navigate("http://localhost:" + this.port + "/checkout");
		return opened;
	}

	private static Locator orderNow(Page page) {
		return page.locator("button[type=submit]");
	}

	private static Locator token(Page page) {
		return page.locator("input[name=token]");
	}

	private static Locator confirmed(Page page) {
		return page.locator("#order-no");
	}

	private static void resumeSlowly(Route route, String delay) {
		Map<String, String> headers = route.request().allHeaders();
		headers.put("X-Demo-Delay", delay);
		route.resume(new Route.ResumeOptions().setHeaders(headers));
	}

	private void assertThatShowsNewestOrder(Page page) {
		assertThat(confirmed(page)).isVisible();
		assertThat(confirmed(page)).hasText(newestOrder());
	}

	private String newestOrder() {
		return this.jdbc.sql("select order_no from customer_order order by id desc limit 1")
			.query(String.class)
			.single();
	}

	private long newOrders() {
		return orders() - this.ordersBefore;
	}

	private long orders() {
		return this.jdbc.sql("select count(*) from customer_order").query(Long.class).single();
	}

}
