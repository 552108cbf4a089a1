package io.idempotency.samples.shop.browser;

import java.util.regex.Pattern;

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
 * that six deliveries have one effect. A delivery that finds the other consumer at work
 * comes again, so that there may be more.
 */
@SpringBootTest(classes = ShopApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles({ "kafka", "rabbit" })
@DirtiesContext
class MessagesBrowserTests {

	private static final Pattern SIX_OR_MORE = Pattern.compile("delivered ([6-9]|\\d\\d)×");

	private static final Pattern TWO_OR_MORE = Pattern.compile("delivered ([2-9]|\\d\\d)×");

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
		assertThat(shop.verdict())
			.hasText(Pattern.compile("^([6-9]|\\d\\d) deliveries → 1 reservation, 1 mail, 1× counted$"));
		assertThat(newest(page)).containsText(SIX_OR_MORE);
		shop.placeOrder().click();
		assertThat(shop.badges()).hasText("Replayed");
		assertThat(newest(page)).containsText(SIX_OR_MORE);
		shop.newKey().click();
		shop.placeOrder().click();
		assertThat(shop.verdict()).containsText("1 call → 1 new order");
		assertThat(newest(page)).containsText(TWO_OR_MORE);
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
		assertThat(shop.verdict()).containsText("1 reservation, 1 mail, 1× counted");
		assertThat(shop.page()
			.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth"))
			.isEqualTo(0);
		chromium.screenshot(shop.page(), "messages-" + width);
	}

	private static Locator newest(Page page) {
		return page.locator("#deliveries li").first();
	}

}
