package io.idempotency.samples.shop.browser;

import java.util.ArrayList;
import java.util.List;

import com.jayway.jsonpath.JsonPath;
import com.microsoft.playwright.APIResponse;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Request;
import com.microsoft.playwright.Route;
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
 * A customer who clicks twice, refreshes, goes back, opens a second tab, or whose answer
 * is lost has ordered once.
 */
@SpringBootTest(classes = ShopApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class OrderingBrowserTests {

	private static final String ORDERS = "**/api/orders";

	@RegisterExtension
	static final Chromium chromium = new Chromium();

	@LocalServerPort
	private int port;

	@Autowired
	private JdbcClient jdbc;

	private long ordersBefore;

	private ShopPage shop;

	@BeforeEach
	void enter() {
		this.ordersBefore = orders();
		this.shop = ShopPage.open(chromium.newPage(), this.port);
	}

	/** A call of this page is no call that a refresh has cut off. */
	@Test
	void orderThatIsPlacedWhileThePageStillLoadsIsNotAskedForAgain() {
		List<Route> metrics = new ArrayList<>();
		List<Route> orders = new ArrayList<>();
		Page page = chromium.newPage();
		page.route("**/actuator/prometheus", metrics::add);
		page.route(ORDERS, (route) -> {
			if ("POST".equals(route.request().method())) {
				orders.add(route);
			}
			else {
				route.resume();
			}
		});
		ShopPage shop = ShopPage.open(page, this.port);
		shop.placeOrder().click();
		page.waitForCondition(() -> !metrics.isEmpty() && !orders.isEmpty());
		page.unroute("**/actuator/prometheus");
		metrics.forEach(Route::resume);
		assertThat(page.locator("#schemes")).isVisible();
		assertThat(shop.cards()).hasCount(1);
		orders.forEach(Route::resume);
		assertThat(shop.verdict()).containsText("1 call → 1 new order");
	}

	@Test
	void doubleClickSendsOneRequestAndPlacesOneOrder() {
		List<Route> held = hold(this.shop);
		this.shop.placeOrder().dblclick();
		awaitRoutes(this.shop.page(), held, 1);
		assertThat(this.shop.placeOrder()).isDisabled();
		chromium.screenshot(this.shop.page(), "double-click-pending");
		held.get(0).resume();
		assertThat(this.shop.verdict()).containsText("1 call → 1 new order in the database");
		assertThat(this.shop.placeOrder()).isEnabled();
		assertThat(this.shop.placeOrder()).isFocused();
		assertThat(held).hasSize(1);
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(this.shop.page(), "double-click");
	}

	@Test
	void secondPressGetsTheFirstAnswer() {
		this.shop.placeOrder().click();
		assertThat(this.shop.verdict()).containsText("1 call → 1 new order");
		this.shop.placeOrder().click();
		assertThat(this.shop.verdict()).containsText("2 calls → 1 new order");
		assertThat(this.shop.badges()).hasText(new String[] { "Executed", "Replayed" });
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void newKeyIsANewOrder() {
		String first = this.shop.key();
		this.shop.placeOrder().click();
		assertThat(this.shop.verdict()).isVisible();
		this.shop.newKey().click();
		assertThat(this.shop.key()).isNotEqualTo(first);
		this.shop.placeOrder().click();
		assertThat(this.shop.cards()).hasCount(2);
		assertThat(this.shop.verdict()).containsText("1 call → 1 new order");
		assertThat(newOrders()).isEqualTo(2);
	}

	@Test
	void twoCallsAtOnceThatNoButtonHoldsBackAreOneOrder() {
		this.shop.scenario("twice").click();
		assertThat(this.shop.verdict()).containsText("2 calls → 1 new order in the database");
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(this.shop.page(), "twice-at-once");
	}

	@Test
	void retryAfterALostAnswerGetsTheOrderThatWasPlaced() {
		List<String> answers = new ArrayList<>();
		List<String> keys = new ArrayList<>();
		this.shop.page().onRequest((request) -> collectKey(request, keys));
		this.shop.page().route(ORDERS, (route) -> {
			if (!isPost(route) || !answers.isEmpty()) {
				route.resume();
				return;
			}
			APIResponse answer = route.fetch();
			answers.add(answer.text());
			route.abort("failed");
		});
		this.shop.placeOrder().click();
		assertThat(this.shop.verdict()).containsText("2 calls → 1 new order in the database");
		assertThat(this.shop.badges()).hasText(new String[] { "No response", "Replayed" });
		assertThat(this.shop.newestCard()).containsText(orderNo(answers.get(0)));
		assertThat(keys).hasSize(2).containsOnly(this.shop.key());
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(this.shop.page(), "lost-answer");
	}

	@Test
	void timeOutOfTheBrowserAndRetryAreOneOrder() {
		this.shop.scenario("timeout").click();
		assertThat(this.shop.verdict()).containsText("1 new order in the database");
		assertThat(this.shop.badges().first()).hasText("Gave up");
		assertThat(this.shop.badges().last()).hasText("Replayed");
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(this.shop.page(), "time-out");
	}

	@Test
	void refreshWhileWaitingAsksAgainWithTheSameKey() {
		List<String> answers = new ArrayList<>();
		List<String> keys = new ArrayList<>();
		this.shop.page().onRequest((request) -> collectKey(request, keys));
		this.shop.page().route(ORDERS, (route) -> {
			if (isPost(route) && answers.isEmpty()) {
				// Never given to the page: it is refreshed before.
				answers.add(route.fetch().text());
				return;
			}
			route.resume();
		});
		this.shop.placeOrder().click();
		this.shop.page().waitForCondition(() -> !answers.isEmpty());
		this.shop.page().reload();
		this.shop.ready();
		assertThat(this.shop.verdict()).containsText("Order " + orderNo(answers.get(0)));
		assertThat(this.shop.badges()).hasText(new String[] { "Replayed" });
		assertThat(keys).hasSize(2).containsOnly(this.shop.key());
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(this.shop.page(), "refresh-while-waiting");
	}

	@Test
	void refreshAfterTheAnswerSendsNothingAndKeepsTheKey() {
		String key = this.shop.key();
		this.shop.placeOrder().click();
		assertThat(this.shop.verdict()).isVisible();
		List<String> keys = new ArrayList<>();
		this.shop.page().onRequest((request) -> collectKey(request, keys));
		this.shop.page().reload();
		this.shop.ready();
		assertThat(this.shop.page().locator("#key-state")).containsText("used by anonymous");
		assertThat(this.shop.key()).isEqualTo(key);
		assertThat(keys).isEmpty();
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void orderAfterTheBackButtonIsTheSameOrder() {
		String key = this.shop.key();
		this.shop.placeOrder().click();
		assertThat(this.shop.verdict()).isVisible();
		this.shop.page().navigate("http://localhost:" + this.port + "/favicon.svg");
		this.shop.page().goBack();
		this.shop.ready();
		assertThat(this.shop.key()).isEqualTo(key);
		this.shop.placeOrder().click();
		assertThat(this.shop.badges().last()).hasText("Replayed");
		assertThat(this.shop.verdict()).isVisible();
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(this.shop.page(), "back-button");
	}

	@Test
	void twoTabsWithOneKeyPlaceOneOrder() {
		ShopPage other = duplicate(this.shop);
		assertThat(other.key()).isEqualTo(this.shop.key());
		List<Route> held = hold(this.shop);
		List<Route> heldOfOther = hold(other);
		this.shop.placeOrder().click();
		other.placeOrder().click();
		awaitRoutes(this.shop.page(), held, 1);
		awaitRoutes(other.page(), heldOfOther, 1);
		release(this.shop, held);
		release(other, heldOfOther);
		assertThat(this.shop.verdict()).isVisible();
		assertThat(other.verdict()).isVisible();
		assertThat(newOrders()).isEqualTo(1);
		String orderNo = this.jdbc.sql("select order_no from customer_order order by id desc limit 1")
			.query(String.class)
			.single();
		assertThat(this.shop.newestCard()).containsText(orderNo);
		assertThat(other.newestCard()).containsText(orderNo);
		chromium.screenshot(this.shop.page(), "two-tabs-first");
		chromium.screenshot(other.page(), "two-tabs-second");
	}

	/**
	 * A second tab that begins with what the first one has in its session, as "duplicate
	 * tab" does.
	 */
	private static ShopPage duplicate(ShopPage shop) {
		Page popup = shop.page().waitForPopup(() -> shop.page().evaluate("() => { window.open(location.href); }"));
		return new ShopPage(popup).ready();
	}

	/** Keeps the orders of a page from the shop until they are let go. */
	private static List<Route> hold(ShopPage shop) {
		List<Route> held = new ArrayList<>();
		shop.page().route(ORDERS, (route) -> {
			if (isPost(route)) {
				held.add(route);
			}
			else {
				route.resume();
			}
		});
		return held;
	}

	private static void release(ShopPage shop, List<Route> held) {
		shop.page().unroute(ORDERS);
		held.forEach(Route::resume);
	}

	private static void awaitRoutes(Page page, List<Route> held, int count) {
		page.waitForCondition(() -> held.size() >= count);
	}

	private static boolean isPost(Route route) {
		return "POST".equals(route.request().method());
	}

	private static void collectKey(Request request, List<String> keys) {
		if ("POST".equals(request.method()) && request.url().endsWith("/api/orders")) {
			keys.add(request.headers().get("idempotency-key"));
		}
	}

	private static String orderNo(String answer) {
		return JsonPath.read(answer, "$.orderNo");
	}

	private long newOrders() {
		return orders() - this.ordersBefore;
	}

	private long orders() {
		return this.jdbc.sql("select count(*) from customer_order").query(Long.class).single();
	}

}
