package io.idempotency.samples.shop.browser;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.ConsoleMessage;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.assertions.PlaywrightAssertions;
import io.idempotency.it.servers.Backend;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.AfterTestExecutionCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The browser of a test class: one process for the class, one fresh profile per test.
 * What a page reports as an error fails its test, and a test that fails leaves a picture.
 */
final class Chromium implements ExecutionCondition, BeforeAllCallback, AfterAllCallback, BeforeEachCallback,
		AfterTestExecutionCallback, AfterEachCallback {

	private static final Path SCREENSHOTS = Path.of(System.getProperty("screenshots", "target/screenshots"));

	/**
	 * The browser calls every answer of 400 and more an error; rejections are what the
	 * shop is about.
	 */
	private static final String REJECTION = "Failed to load resource: the server responded with a status of 4";

	/** So are the calls that a test takes away from the page. */
	private static final String TAKEN_AWAY = "Failed to load resource: net::ERR_FAILED";

	/** Milliseconds; for machines that are busy with other things. */
	private static final int PATIENCE = 60_000;

	private final List<String> errors = new CopyOnWriteArrayList<>();

	private Playwright playwright;

	private Browser browser;

	private BrowserContext profile;

	@Override
	public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
		return Backend.BROWSER.evaluate();
	}

	@Override
	public void beforeAll(ExtensionContext context) {
		PlaywrightAssertions.setDefaultAssertionTimeout(PATIENCE);
		this.playwright = Playwright
			.create(new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
		this.browser = this.playwright.chromium()
			.launch(new BrowserType.LaunchOptions().setExecutablePath(Backend.chromium())
				.setHeadless(true)
				.setChromiumSandbox(false)
				.setArgs(List.of("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
						"--disable-background-networking", "--disable-component-update", "--disable-sync")));
	}

	@Override
	public void afterAll(ExtensionContext context) {
		if (this.playwright != null) {
			this.playwright.close();
		}
	}

	@Override
	public void beforeEach(ExtensionContext context) {
		this.errors.clear();
		open(new Browser.NewContextOptions().setViewportSize(1280, 900));
	}

	@Override
	public void afterTestExecution(ExtensionContext context) {
		if (context.getExecutionException().isPresent()) {
			String name = context.getRequiredTestClass().getSimpleName() + "-"
					+ context.getRequiredTestMethod().getName();
			this.profile.pages().forEach((page) -> screenshot(page, "failed-" + name));
			return;
		}
		assertThat(this.errors).as("errors in the console").isEmpty();
	}

	@Override
	public void afterEach(ExtensionContext context) {
		if (this.profile != null) {
			this.profile.close();
		}
	}

	/**
	 * Starts again with another profile: another size, other preferences.
	 */
	void open(Browser.NewContextOptions options) {
		if (this.profile != null) {
			this.profile.close();
		}
		this.profile = this.browser.newContext(options.setLocale("en-IE"));
		this.profile.setDefaultTimeout(PATIENCE);
		this.profile.onWebError((error) -> this.errors.add(error.error()));
		this.profile.onConsoleMessage(this::collect);
	}

	BrowserContext profile() {
		return this.profile;
	}

	Page newPage() {
		return this.profile.newPage();
	}

	Path screenshot(Page page, String name) {
		Path file = SCREENSHOTS.resolve(name + ".png");
		page.screenshot(new Page.ScreenshotOptions().setPath(file).setFullPage(true));
		return file;
	}

	private void collect(ConsoleMessage message) {
		String text = message.text();
		if ("error".equals(message.type()) && !text.startsWith(REJECTION) && !text.startsWith(TAKEN_AWAY)) {
			this.errors.add(text + " at " + message.location());
		}
	}

}
