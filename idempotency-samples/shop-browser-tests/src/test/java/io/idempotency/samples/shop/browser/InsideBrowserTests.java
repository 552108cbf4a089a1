package io.idempotency.samples.shop.browser;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.idempotency.samples.shop.ShopApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

/**
 * The panel of the operator: counters that move, a key that is found, evicted, and new
 * again.
 */
@SpringBootTest(classes = ShopApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "management.prometheus.metrics.export.enabled=true")
class InsideBrowserTests {

	/** An order that takes 8 s; nobody waits for its answer. */
	private static final String HANGING_CALL = """
			() => void fetch("/api/orders", {
				method: "POST",
				headers: { "Content-Type": "application/json", "Idempotency-Key": "hangs", "X-Demo-Delay": "8s" },
				body: JSON.stringify({ sku: "sku-1", quantity: 1 })
			})""";

	@RegisterExtension
	static final Chromium chromium = new Chromium();

	@LocalServerPort
	private int port;

	@Test
	void keyIsFoundAndEvictedAndNewAgain() {
		ShopPage shop = ShopPage.open(chromium.newPage(), this.port);
		Page page = shop.page();
		assertThat(page.locator("#look-up")).isDisabled();
		shop.placeOrder().click();
		assertThat(shop.verdict()).containsText("1 call → 1 new order");
		assertThat(outcome(page, "executed")).hasText("1");
		assertThat(page.locator("#messages")).isHidden();
		shop.placeOrder().click();
		assertThat(outcome(page, "replayed")).hasText("1");

		page.locator("#look-current").click();
		assertThat(page.locator("#look-key")).hasValue(shop.key());
		page.locator("#look-up").click();
		assertThat(page.locator("#record")).containsText("done");
		chromium.screenshot(page, "inside");
		page.locator("#evict").click();
		assertThat(page.locator("#look-answer")).containsText("Evicted. The next call with this key runs.");
		assertThat(page.locator("#record")).isHidden();
		assertThat(page.locator("#evict")).isHidden();
		shop.placeOrder().click();
		assertThat(outcome(page, "executed")).hasText("2");
		page.locator("#look-caller").selectOption("bob");
		page.locator("#look-up").click();
		assertThat(page.locator("#look-answer")).containsText("No record");
	}

	@Test
	void runningCallIsEvictedByForceOnly() {
		ShopPage shop = ShopPage.open(chromium.newPage(), this.port);
		Page page = shop.page();
		shop.placeOrder().click();
		assertThat(shop.verdict()).containsText("1 call → 1 new order");
		page.evaluate(HANGING_CALL);
		page.locator("#look-key").fill("hangs");
		lookUntil(page, "running");
		page.locator("#evict").click();
		assertThat(page.locator("#look-answer")).containsText("The call is in progress.");
		chromium.screenshot(page, "inside-running");
		page.locator("#evict-anyway").click();
		assertThat(page.locator("#look-answer")).containsText("Evicted.");
		assertThat(page.locator("#evict-anyway")).isHidden();
	}

	/** Looks again and again, because the call may not have reached the shop yet. */
	private static void lookUntil(Page page, String state) {
		page.waitForCondition(() -> {
			page.waitForResponse("**/actuator/idempotency?*", () -> page.locator("#look-up").click());
			return page.locator("#record").textContent().contains(state);
		});
	}

	private static Locator outcome(Page page, String outcome) {
		return page.locator("#outcomes li")
			.filter(new Locator.FilterOptions().setHasText("order.place"))
			.filter(new Locator.FilterOptions().setHasText(outcome))
			.locator("strong");
	}

}
