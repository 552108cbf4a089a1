package io.idempotency.samples.shop.browser;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import com.microsoft.playwright.Page;
import io.idempotency.it.servers.OtherJvm;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;

/** The page in front of the shop on WebFlux, which has a class path of its own. */
class ReactiveShopBrowserTests {

	private static final Path TARGET = Path.of("../reactive-shop/target");

	private static final String READY = "Reactive shop is ready on http://localhost:";

	@RegisterExtension
	static final Chromium chromium = new Chromium();

	private static OtherJvm jvm;

	private static int port;

	private ShopPage shop;

	@BeforeAll
	static void open() throws IOException {
		jvm = OtherJvm.start(
				TARGET.resolve("classes") + File.pathSeparator + Files.readString(TARGET.resolve("class-path")).strip(),
				"io.idempotency.samples.reactive.ReactiveShopApplication", "--server.port=0");
		port = Integer.parseInt(jvm.awaitLine(".*" + READY + "\\d+/").replaceAll(".*" + READY + "(\\d+)/", "$1"));
	}

	@AfterAll
	static void close() {
		jvm.close();
	}

	@BeforeEach
	void openThePage() {
		this.shop = ShopPage.open(chromium.newPage(), port);
	}

	@Test
	void secondCallIsReplayed() {
		this.shop.placeOrder().click();
		assertThat(this.shop.verdict()).containsText("1 call → 1 new order in the database");
		this.shop.placeOrder().click();
		assertThat(this.shop.badges()).hasText(new String[] { "Executed", "Replayed" });
		assertThat(this.shop.verdict()).containsText("2 calls → 1 new order in the database");
		Page page = this.shop.page();
		page.locator("#look-operation").selectOption("order.place");
		page.locator("#look-current").click();
		page.locator("#look-up").click();
		assertThat(page.locator("#record")).containsText("done");
		assertThat(page.locator("#offline")).isHidden();
		assertThat(page.locator("#messages")).isHidden();
		assertThat(page.locator("#schemes")).isHidden();
		chromium.screenshot(page, "reactive-shop");
	}

	@Test
	void callsAtOnceAndCallsThatWereGivenUpAreOneOrder() {
		this.shop.scenario("twice").click();
		assertThat(this.shop.verdict()).containsText("2 calls → 1 new order in the database");
		this.shop.scenario("timeout").click();
		assertThat(this.shop.badges().first()).hasText("Gave up");
		assertThat(this.shop.badges().last()).hasText("Replayed");
		assertThat(this.shop.verdict()).containsText("1 new order in the database");
	}

	@Test
	void paymentAndRefundAreBookedOnce() {
		this.shop.placeOrder().click();
		assertThat(this.shop.verdict()).isVisible();
		this.shop.scenario("pay").click();
		assertThat(this.shop.verdict()).containsText("2 calls → 1 payment");
		this.shop.scenario("refund").click();
		assertThat(this.shop.verdict()).containsText("2 calls → 1 refund");
	}

}
