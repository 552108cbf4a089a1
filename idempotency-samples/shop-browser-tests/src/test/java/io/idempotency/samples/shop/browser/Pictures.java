package io.idempotency.samples.shop.browser;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.BoundingBox;
import com.microsoft.playwright.options.ReducedMotion;
import io.idempotency.samples.shop.ShopApplication;
import io.idempotency.samples.shop.browser.PictureFiles.Frame;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Makes the pictures of the documentation. Runs only by name: what it writes is in the
 * repository.
 */
@SpringBootTest(classes = ShopApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
class Pictures {

	private static final Path FOLDER = Path.of("..", "..", "docs", "images");

	private static final int MOST_BYTES_OF_A_PICTURE = 150_000;

	private static final int MOST_BYTES_OF_AN_ANIMATION = 1_500_000;

	/** Leaves the order and the log, and makes room for words below them. */
	private static final String STAGE = """
			.products-area, .trouble-area, .schemes-area, .inside-area, .orders, .who { display: none !important }
			body { padding-bottom: 84px }
			#caption { position: fixed; inset: auto 0 0 0; padding: 18px 32px; background: #0e5f49; color: #fff;
				font: 600 21px/28px system-ui, sans-serif; z-index: 9 }
			#pointer { position: fixed; width: 22px; height: 22px; margin: -11px; border-radius: 50%; background: #e2571e;
				border: 3px solid #fff; box-shadow: 0 1px 5px #0008; z-index: 9 }""";

	private static final String SAY = """
			(text) => {
				const caption = document.getElementById("caption") ?? document.body.appendChild(document.createElement("div"));
				caption.id = "caption";
				caption.textContent = text;
			}""";

	private static final String POINT = """
			(place) => {
				const pointer = document.getElementById("pointer") ?? document.body.appendChild(document.createElement("div"));
				pointer.id = "pointer";
				pointer.style.left = place.x + "px";
				pointer.style.top = place.y + "px";
			}""";

	@RegisterExtension
	static final Chromium chromium = new Chromium();

	@LocalServerPort
	private int port;

	private final List<Frame> frames = new ArrayList<>();

	@Test
	void picturesAreMade() throws IOException {
		orderPlacedTwice();
		pageOfTheShop();
	}

	private void orderPlacedTwice() throws IOException {
		ShopPage shop = enter(1080, 660);
		shop.page().addStyleTag(new Page.AddStyleTagOptions().setContent(STAGE));
		show(shop, "Every order goes out with an Idempotency-Key.", 3);
		point(shop, shop.placeOrder());
		show(shop, "The customer orders …", 1);
		shop.placeOrder().click();
		assertThat(shop.verdict()).containsText("1 call → 1 new order");
		show(shop, "… the call runs, and there is one order in the database.", 4);
		show(shop, "The customer clicks again, or the answer was lost and the app repeats the call …", 3);
		shop.placeOrder().click();
		assertThat(shop.verdict()).containsText("2 calls → 1 new order");
		show(shop, "… and gets the first answer. Nothing ran: still one order.", 5);
		point(shop, shop.newKey());
		shop.newKey().click();
		show(shop, "A new key says: this is another order.", 2);
		point(shop, shop.placeOrder());
		shop.placeOrder().click();
		assertThat(shop.cards()).hasCount(2);
		assertThat(shop.verdict()).containsText("1 call → 1 new order");
		show(shop, "Three calls, two orders, as the customer meant it.", 5);
		Path file = FOLDER.resolve("order-placed-twice.gif");
		PictureFiles.writeGif(this.frames, file);
		assertThat(Files.size(file)).isLessThan(MOST_BYTES_OF_AN_ANIMATION);
	}

	private void pageOfTheShop() throws IOException {
		ShopPage shop = enter(1280, 940);
		shop.placeOrder().click();
		assertThat(shop.verdict()).containsText("1 call → 1 new order");
		shop.placeOrder().click();
		assertThat(shop.verdict()).containsText("2 calls → 1 new order");
		shop.scenario("changed").click();
		assertThat(shop.cards()).hasCount(2);
		assertThat(shop.verdict()).isVisible();
		shop.scenario("pay").click();
		assertThat(shop.cards()).hasCount(3);
		assertThat(shop.verdict()).isVisible();
		Page page = shop.page();
		page.evaluate("() => window.scrollTo(0, 0)");
		write("shop", page.screenshot());
		for (String scheme : List.of("query", "order-number", "header-key")) {
			page.locator("#scheme").selectOption(scheme);
			page.locator("[data-try=again]").click();
			assertThat(page.locator("[data-try=again]")).isEnabled();
		}
		assertThat(page.locator(".run .verdict")).hasCount(3);
		write("schemes", page.locator("#schemes").screenshot());
	}

	/**
	 * Pages that do not move, so that the moment of a picture does not matter, and take
	 * styles from here.
	 */
	private ShopPage enter(int width, int height) {
		chromium.open(new Browser.NewContextOptions().setViewportSize(width, height)
			.setReducedMotion(ReducedMotion.REDUCE)
			.setBypassCSP(true));
		return ShopPage.open(chromium.newPage(), this.port);
	}

	private void show(ShopPage shop, String caption, int seconds) {
		shop.page().evaluate(SAY, caption);
		this.frames.add(new Frame(shop.page().screenshot(), Duration.ofSeconds(seconds)));
	}

	private static void point(ShopPage shop, Locator control) {
		BoundingBox box = control.boundingBox();
		shop.page().evaluate(POINT, Map.of("x", box.x + box.width - 20, "y", box.y + box.height - 14));
	}

	private static void write(String name, byte[] png) throws IOException {
		Path file = FOLDER.resolve(name + ".png");
		PictureFiles.writePng(png, file);
		assertThat(Files.size(file)).isLessThan(MOST_BYTES_OF_A_PICTURE);
	}

}
