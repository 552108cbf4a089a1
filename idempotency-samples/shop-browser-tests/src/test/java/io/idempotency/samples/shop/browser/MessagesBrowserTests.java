package io.idempotency.samples.shop.browser;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import io.idempotency.samples.shop.ShopApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The panel of the messages, with both brokers at once: two consumers share a key, so
 * that six deliveries have one effect.
 */
@SpringBootTest(classes = ShopApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles({ "kafka", "rabbit" })
@DirtiesContext
class MessagesBrowserTests {

	@RegisterExtension
	static final Chromium chromium = new Chromium();

	@LocalServerPort
	private int port;

	@Test
	void messageIsDeliveredManyTimesAndHasItsEffectsOnce() {
		ShopPage shop = ShopPage.open(chromium.newPage(), this.port);
		Page page = shop.page();
		assertThat(page.locator("#messages-broker")).hasText("Kafka and RabbitMQ");
		shop.scenario("thrice").click();
		assertThat(shop.verdict()).hasText("6 deliveries → 1 reservation, 1 mail, 1× counted");
		assertThat(newest(page)).containsText("delivered 6×");
		shop.placeOrder().click();
		assertThat(shop.badges()).hasText("Replayed");
		assertThat(newest(page)).containsText("delivered 6×");
		shop.newKey().click();
		shop.placeOrder().click();
		assertThat(shop.verdict()).containsText("1 call → 1 new order");
		assertThat(newest(page)).containsText("delivered 2×");
		assertThat(newest(page).locator(".executed"))
			.hasText(new String[] { "reserved 1×", "mailed 1×", "counted 1×" });
		chromium.screenshot(page, "messages");
	}

	@ParameterizedTest
	@ValueSource(ints = { 360, 1280 })
	void panelFitsTheScreen(int width) {
		chromium.open(new Browser.NewContextOptions().setViewportSize(width, 800));
		ShopPage shop = ShopPage.open(chromium.newPage(), this.port);
		shop.scenario("thrice").click();
		assertThat(shop.verdict()).containsText("6 deliveries");
		assertThat(shop.page()
			.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth"))
			.isEqualTo(0);
		chromium.screenshot(shop.page(), "messages-" + width);
	}

	private static Locator newest(Page page) {
		return page.locator("#deliveries li").first();
	}

}
