package io.idempotency.samples.shop.browser;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.ColorScheme;
import io.idempotency.it.servers.Nightly;
import io.idempotency.samples.shop.ShopApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pages can be used on a small and on a large screen, and without a mouse.
 */
@Nightly
@SpringBootTest(classes = ShopApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class LayoutBrowserTests {

	private static final String CONTROLS = "a[href], button, input:not([type=hidden]), select, summary";

	/** Names of the controls that a finger or a mouse cannot hit. */
	private static final String UNREACHABLE = """
			(selector) => Array.from(document.querySelectorAll(selector))
				.filter((each) => each.checkVisibility() && !each.classList.contains("skip"))
				.filter((each) => {
					each.scrollIntoView({ block: "center", inline: "nearest" });
					const box = each.getBoundingClientRect();
					const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
					return box.left < 0 || box.right > document.documentElement.clientWidth || box.width < 16 || box.height < 16
						|| !hit || !(each.contains(hit) || each.closest("label")?.contains(hit));
				})
				.map((each) => each.outerHTML.slice(0, 120))""";

	/**
	 * Numbers what the Tab key must reach: of a group of radio buttons, the checked one.
	 */
	private static final String NUMBER = """
			(selector) => Array.from(document.querySelectorAll(selector + ", [tabindex='0']"))
				.filter((each) => each.checkVisibility() && !each.disabled && (each.type !== "radio" || each.checked))
				.map((each, index) => each.dataset.number = String(index))""";

	/** The number of what has the focus, and whether one can see that it has. */
	private static final String FOCUSED = """
			() => {
				const outlined = (each) => each && getComputedStyle(each).outlineStyle !== "none";
				const each = document.activeElement;
				const seen = outlined(each) || outlined(each.nextElementSibling) || outlined(each.closest("label"));
				return each === document.body ? "" : (each.dataset.number ?? "?") + (seen ? "" : " unseen");
			}""";

	@RegisterExtension
	static final Chromium chromium = new Chromium();

	@LocalServerPort
	private int port;

	@ParameterizedTest
	@CsvSource({ "360, 740, LIGHT", "768, 1024, LIGHT", "1280, 900, LIGHT", "1280, 900, DARK", "360, 740, DARK" })
	void shopFitsTheScreen(int width, int height, ColorScheme scheme) {
		chromium.open(new Browser.NewContextOptions().setViewportSize(width, height).setColorScheme(scheme));
		ShopPage shop = ShopPage.open(chromium.newPage(), this.port);
		assertThatFits(shop.page());
		fill(shop);
		assertThatFits(shop.page());
		chromium.screenshot(shop.page(), "shop-" + width + "-" + scheme.name().toLowerCase(Locale.ROOT));
	}

	@ParameterizedTest
	@CsvSource({ "360, 740", "1280, 900" })
	void checkoutFitsTheScreen(int width, int height) {
		chromium.open(new Browser.NewContextOptions().setViewportSize(width, height));
		Page page = chromium.newPage();
		page.navigate("http://localhost:" + this.port + "/checkout");
		assertThatFits(page);
		chromium.screenshot(page, "checkout-" + width);
		page.locator("button[type=submit]").click();
		assertThat(page.locator("#order-no")).isVisible();
		assertThatFits(page);
	}

	@Test
	void everythingIsReachedWithTheTabKeyAndSeenToBe() {
		ShopPage shop = ShopPage.open(chromium.newPage(), this.port);
		fill(shop);
		Page page = shop.page();
		page.reload();
		shop.ready();
		assertThat(page.locator("#schemes")).isVisible();
		List<?> expected = (List<?>) page.evaluate(NUMBER, CONTROLS);
		Set<Object> reached = new LinkedHashSet<>();
		for (int presses = 0; presses < expected.size() + 5; presses++) {
			page.keyboard().press("Tab");
			reached.add(page.evaluate(FOCUSED));
		}
		reached.removeAll(Set.of("", "?"));
		assertThat(reached).containsExactlyInAnyOrderElementsOf(expected);
	}

	@Test
	void orderIsPlacedAndSchemesAreComparedByKeyboardOnly() {
		ShopPage shop = ShopPage.open(chromium.newPage(), this.port);
		Page page = shop.page();
		assertThat(page.locator("#schemes")).isVisible();
		tabTo(page, "input[name=user]:checked");
		page.keyboard().press("ArrowRight");
		tabTo(page, "input[name=sku]:checked");
		page.keyboard().press("ArrowDown");
		tabTo(page, "#quantity");
		page.keyboard().press("ArrowUp");
		page.keyboard().press("Enter");
		assertThat(shop.verdict()).containsText("1 call → 1 new order");
		assertThat(page.locator("#orders tbody tr").first()).containsText("Brass desk lamp");
		assertThat(page.locator("#orders tbody tr").first().locator("[data-label=Customer]")).hasText("alice");
		assertThat(page.locator("#orders tbody tr").first().locator("[data-label=Quantity]")).hasText("2");
		tabTo(page, "#scheme");
		page.keyboard().type("Opt");
		assertThat(page.locator("#scheme")).hasValue("version");
		tabTo(page, "[data-try=again]");
		page.keyboard().press("Enter");
		assertThat(page.locator(".run .verdict")).hasText("1 new order");
		assertThat(page.locator("[data-try=again]")).isFocused();
		chromium.screenshot(page, "keyboard-only");
	}

	private static void tabTo(Page page, String selector) {
		for (int presses = 0; presses < 60; presses++) {
			page.keyboard().press("Tab");
			if ((Boolean) page.evaluate("(selector) => document.activeElement.matches(selector)", selector)) {
				return;
			}
		}
		throw new AssertionError("The Tab key does not reach " + selector);
	}

	/** Makes the page as full as it gets: cards, runs, orders, and open details. */
	private static void fill(ShopPage shop) {
		Page page = shop.page();
		shop.placeOrder().click();
		assertThat(shop.verdict()).isVisible();
		shop.scenario("changed").click();
		assertThat(shop.cards()).hasCount(2);
		assertThat(shop.verdict()).isVisible();
		shop.newestCard().locator("summary").last().click();
		page.locator("#scheme").selectOption("order-number");
		page.locator("[data-try=again]").click();
		assertThat(page.locator(".run .verdict")).isVisible();
		page.locator("#scheme").selectOption("query");
		page.locator("[data-try=lost]").click();
		assertThat(page.locator(".run .verdict")).hasCount(2);
	}

	private static void assertThatFits(Page page) {
		assertThat(page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth"))
			.as("pixels to scroll sideways")
			.isEqualTo(0);
		assertThat((List<?>) page.evaluate(UNREACHABLE, CONTROLS)).as("controls out of reach").isEmpty();
	}

}
