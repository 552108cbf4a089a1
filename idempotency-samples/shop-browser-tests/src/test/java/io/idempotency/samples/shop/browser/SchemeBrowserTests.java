package io.idempotency.samples.shop.browser;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Route;
import io.idempotency.samples.shop.ShopApplication;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The comparison of the schemes on the page: what it shows is what the database has.
 */
@SpringBootTest(classes = ShopApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class SchemeBrowserTests {

	private static final int SCHEMES = 13;

	@RegisterExtension
	static final Chromium chromium = new Chromium();

	@LocalServerPort
	private int port;

	@Autowired
	private JdbcClient jdbc;

	private Page page;

	private long ordersBefore;

	@BeforeEach
	void enter() {
		this.ordersBefore = orders();
		this.page = chromium.newPage();
	}

	@Test
	void everySchemeMakesOneOrderOfTwoCallsAtOnce() {
		open("sku-2");
		assertThat(this.page.locator("#scheme option")).hasCount(SCHEMES);
		attempt("all").click();
		assertThat(runs()).hasCount(SCHEMES);
		assertThat(attempt("all")).isEnabled();
		assertThat(this.page.locator(".run .verdict")).hasCount(SCHEMES);
		assertThat(this.page.locator(".run .verdict")).containsText(new String[] { "1 new order", "1 new order",
				"1 new order", "1 new order", "1 new order", "1 new order", "1 new order", "1 new order", "1 new order",
				"1 new order", "1 new order", "1 new order", "1 new order" });
		assertThat(newOrders()).isEqualTo(SCHEMES);
		chromium.screenshot(this.page, "schemes-all");
	}

	@ParameterizedTest
	@CsvSource({ "header-key, sku-3, Executed, Replayed", "page-id, sku-3, Executed, Rejected",
			"lock, sku-3, Executed, Same order", "business-fields, sku-4, Executed, Replayed",
			"duplicate-on, sku-3, Executed, Same order", "state-machine, sku-3, Executed, Same order" })
	void secondCallSeesWhatTheSchemeSays(String scheme, String sku, String first, String second) {
		open(sku);
		this.page.locator("#scheme").selectOption(scheme);
		attempt("again").click();
		assertThat(verdict()).hasText("1 new order");
		assertThat(runs().first().locator(".badge")).hasText(new String[] { first, second });
		assertThat(newOrders()).isEqualTo(1);
	}

	@Test
	void tokenIsIssuedAndThenUsedTwice() {
		open("sku-3");
		this.page.locator("#scheme").selectOption("token");
		attempt("again").click();
		assertThat(verdict()).hasText("1 new order");
		assertThat(runs().first().locator(".badge")).hasText(new String[] { "Issued", "Executed", "Replayed" });
		assertThat(newOrders()).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "header-key, Replayed", "lock, Same order", "token, Replayed", "version, Same order",
			"query, Same order" })
	void lostAnswerIsFoundAgain(String scheme, String last) {
		open("sku-3");
		this.page.locator("#scheme").selectOption(scheme);
		attempt("lost").click();
		assertThat(verdict()).hasText("1 new order");
		assertThat(runs().first().locator(".badge").getByText("Gave up").first()).isVisible();
		assertThat(runs().first().locator(".badge").last()).hasText(last);
		assertThat(newOrders()).isEqualTo(1);
		chromium.screenshot(this.page, "schemes-lost-answer-" + scheme);
	}

	@Test
	void chooserIsHiddenWhereTheShopListsNothing() {
		this.page.route("**/api/recipes", (route) -> route
			.fulfill(new Route.FulfillOptions().setStatus(200).setContentType("application/json").setBody("[]")));
		ShopPage.open(this.page, this.port);
		assertThat(this.page.locator("#schemes")).isHidden();
	}

	private void open(String sku) {
		ShopPage.open(this.page, this.port);
		this.page.locator("input[value=" + sku + "]").check();
		assertThat(this.page.locator("#schemes")).isVisible();
	}

	private Locator attempt(String kind) {
		return this.page.locator("[data-try=" + kind + "]");
	}

	private Locator runs() {
		return this.page.locator(".run");
	}

	private Locator verdict() {
		return runs().first().locator(".verdict");
	}

	private long newOrders() {
		return orders() - this.ordersBefore;
	}

	private long orders() {
		return this.jdbc.sql("select count(*) from customer_order").query(Long.class).single();
	}

}
