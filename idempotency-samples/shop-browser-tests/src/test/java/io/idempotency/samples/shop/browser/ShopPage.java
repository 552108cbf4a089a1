package io.idempotency.samples.shop.browser;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

/**
 * What a customer does on the page of the shop, and reads there.
 */
final class ShopPage {

	private final Page page;

	ShopPage(Page page) {
		this.page = page;
	}

	static ShopPage open(Page page, int port) {
		page.navigate("http://localhost:" + port + "/");
		return new ShopPage(page).ready();
	}

	/**
	 * Waits until the page can be used: its products are there.
	 */
	ShopPage ready() {
		assertThat(this.page.locator(".product")).hasCount(9);
		return this;
	}

	Page page() {
		return this.page;
	}

	String key() {
		return this.page.locator("#key").textContent();
	}

	Locator placeOrder() {
		return this.page.locator("#order button[type=submit]");
	}

	Locator newKey() {
		return this.page.locator("#new-key");
	}

	Locator scenario(String name) {
		return this.page.locator("[data-scenario=" + name + "]");
	}

	/**
	 * The cards of the log, the newest first, but for what came from other pages.
	 */
	Locator cards() {
		return this.page.locator("#log .card").filter(new Locator.FilterOptions().setHasNotText("From elsewhere"));
	}

	Locator newestCard() {
		return cards().first();
	}

	/**
	 * What the database said after the newest thing that was tried.
	 */
	Locator verdict() {
		return newestCard().locator(".verdict");
	}

	/**
	 * The badges of the calls of the newest card, from top to bottom.
	 */
	Locator badges() {
		return newestCard().locator(".badge");
	}

}
