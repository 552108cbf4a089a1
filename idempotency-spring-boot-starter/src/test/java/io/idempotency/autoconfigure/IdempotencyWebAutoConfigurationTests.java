package io.idempotency.autoconfigure;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.IdempotencyTokens;
import io.idempotency.web.IdempotencyScopeResolver;
import io.idempotency.web.IdempotentRoutes;
import jakarta.servlet.DispatcherType;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.Banner;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.error.ErrorMvcAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.context.ServerPortInfoApplicationContextInitializer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.ResponseEntity;
import org.springframework.web.HttpRequestHandler;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;

/** On a real Tomcat. */
class IdempotencyWebAutoConfigurationTests {

	private static final String ORDER = "{\"sku\":\"book\"}";

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner(
			AnnotationConfigServletWebServerApplicationContext::new)
		.withConfiguration(AutoConfigurations.of(ServletWebServerFactoryAutoConfiguration.class,
				DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class,
				HttpMessageConvertersAutoConfiguration.class, JacksonAutoConfiguration.class,
				ErrorMvcAutoConfiguration.class, IdempotencyAutoConfiguration.class,
				IdempotencyWebAutoConfiguration.class))
		.withInitializer(new ServerPortInfoApplicationContextInitializer())
		.withPropertyValues("server.port=0")
		.withBean(OrderController.class);

	@Test
	void routeAndMethodOfOneNameFailTheStart() {
		this.runner.withBean(RoutedOrders.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining("RoutedOrders#place")
				.hasMessageContaining("a route has the same name 'orders.place', so both would share their keys"));
	}

	@Test
	void requestThatComesTwiceHasItsEffectOnceAndGetsTheSameAnswer() {
		run((context) -> {
			Browser browser = new Browser(context);
			HttpResponse<String> first = browser.post("/orders", "k1", ORDER);
			HttpResponse<String> second = browser.post("/orders", "k1", ORDER);
			assertThat(first.statusCode()).isEqualTo(201);
			assertThat(first.headers().firstValue("Idempotent-Replayed")).isEmpty();
			assertThat(second.statusCode()).isEqualTo(201);
			assertThat(second.body()).isEqualTo(first.body()).isEqualTo("{\"sku\":\"book\",\"number\":1}");
			for (String header : List.of("Location", "X-Run", "Content-Type")) {
				assertThat(second.headers().firstValue(header)).isPresent()
					.isEqualTo(first.headers().firstValue(header));
			}
			assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
			assertThat(context.getBean(OrderController.class).runs()).isEqualTo(1);
		});
	}

	/** A start pays for each class that is generated. */
	@Test
	void nothingIsGeneratedForWhatIsNotGuarded() {
		this.runner.withBean("unguarded", Unguarded.class).run((context) -> {
			List<Object> generated = Arrays.stream(context.getBeanDefinitionNames())
				.map(context::getBean)
				.filter((bean) -> AopUtils.isAopProxy(bean) || bean.getClass().getName().contains("$$SpringCGLIB"))
				.toList();
			assertThat(generated).hasSize(1).allMatch(OrderController.class::isInstance);
		});
	}

	@RestController
	static class Unguarded {

		@PostMapping("/unguarded")
		String post() {
			return "unguarded";
		}

	}

	@Test
	void rejectionsAreProblems() {
		run((context) -> {
			Browser browser = new Browser(context);
			browser.post("/orders", "k1", ORDER);
			assertProblem(browser.post("/orders", "k1", "{\"sku\":\"pen\"}"), 422, "key-reused");
			assertProblem(browser.post("/orders", null, ORDER), 400, "key-missing");
			assertProblem(browser.post("/orders", "a b", ORDER), 400, "key-invalid");
		});
	}

	@Test
	void whenDisabledThenNothingIsGuarded() {
		this.runner.withPropertyValues("idempotency.enabled=false").run((context) -> {
			assertThat(context).doesNotHaveBean(FilterRegistrationBean.class);
			Browser browser = new Browser(context);
			assertThat(browser.post("/orders", null, ORDER).statusCode()).isEqualTo(201);
			assertThat(browser.post("/orders", null, ORDER).statusCode()).isEqualTo(201);
			assertThat(context.getBean(OrderController.class).runs()).isEqualTo(2);
		});
	}

	@Test
	void whenBeansAreMadeLazilyThenRequestsAreGuarded() {
		this.runner.withPropertyValues("spring.main.lazy-initialization=true").run(this::assertGuarded);
	}

	/** Nobody knows the class of such a bean before it is made. */
	@Test
	void whenABeanIsMadeInsideAHandlerThenItHasTheBodyOfTheRequest() throws Exception {
		SpringApplicationBuilder lazy = new SpringApplicationBuilder(LedgerApplication.class).lazyInitialization(true)
			.bannerMode(Banner.Mode.OFF);
		try (ConfigurableApplicationContext context = lazy.run("--server.port=0", "--idempotency.store=memory")) {
			HttpRequest request = HttpRequest
				.newBuilder(URI.create(
						"http://localhost:" + context.getEnvironment().getProperty("local.server.port") + "/ledger"))
				.header("Content-Type", "application/json")
				.POST(HttpRequest.BodyPublishers.ofString(ORDER))
				.build();
			for (int i = 0; i < 2; i++) {
				assertThat(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body())
					.isEqualTo("entry 1");
			}
		}
	}

	@Test
	void whenThreadsAreVirtualThenRequestsAreGuarded() {
		this.runner.withPropertyValues("spring.threads.virtual.enabled=true").run(this::assertGuarded);
	}

	@Test
	void whenTheAutoProxyCreatorIsOffThenRequestsAreGuarded() {
		this.runner.withPropertyValues("spring.aop.auto=false").run(this::assertGuarded);
	}

	@Test
	void keyHeaderAndItsLengthAreConfigurable() {
		this.runner.withPropertyValues("idempotency.key.header=X-Request-Id", "idempotency.key.max-length=5")
			.run((context) -> {
				Browser browser = new Browser(context);
				assertProblem(browser.post("/orders", "k1", ORDER), 400, "key-missing");
				assertThat(browser.post("/orders", null, ORDER, "X-Request-Id", "12345").statusCode()).isEqualTo(201);
				assertProblem(browser.post("/orders", null, ORDER, "X-Request-Id", "123456"), 400, "key-invalid");
			});
	}

	@Test
	void replayedHeaderIsConfigurable() {
		this.runner.withPropertyValues("idempotency.http.replayed-header=X-Again").run((context) -> {
			Browser browser = new Browser(context);
			browser.post("/orders", "k1", ORDER);
			HttpResponse<String> second = browser.post("/orders", "k1", ORDER);
			assertThat(second.headers().firstValue("X-Again")).hasValue("true");
			assertThat(second.headers().firstValue("Idempotent-Replayed")).isEmpty();
		});
	}

	@Test
	void excludedHeadersAreNotKept() {
		this.runner.withPropertyValues("idempotency.http.excluded-headers=x-run").run((context) -> {
			Browser browser = new Browser(context);
			assertThat(browser.post("/orders", "k1", ORDER).headers().firstValue("X-Run")).isPresent();
			HttpResponse<String> second = browser.post("/orders", "k1", ORDER);
			assertThat(second.headers().firstValue("X-Run")).isEmpty();
			assertThat(second.headers().firstValue("Location")).isPresent();
		});
	}

	@Test
	void largestRequestIsConfigurable() {
		this.runner.withPropertyValues("idempotency.http.max-request-size=20B").run((context) -> {
			Browser browser = new Browser(context);
			assertThat(browser.post("/orders", "k1", ORDER).statusCode()).isEqualTo(201);
			assertProblem(browser.post("/orders", "k2", "{\"sku\":\"encyclopedia\"}"), 413, "body-too-large");
		});
	}

	@Test
	void largestResponseIsConfigurable() {
		this.runner.withPropertyValues("idempotency.http.max-response-size=50B").run((context) -> {
			Browser browser = new Browser(context);
			assertThat(browser.post("/large", "k1", "").body()).hasSize(101);
			assertProblem(browser.post("/large", "k1", ""), 409, "result-unavailable");
		});
	}

	@Test
	void releaseOnIsConfigurable() {
		this.runner.withPropertyValues("idempotency.http.release-on=404,503").run((context) -> {
			Browser browser = new Browser(context);
			assertRuns(context, browser, "404", 2);
			assertRuns(context, browser, "503", 2);
			assertRuns(context, browser, "409", 1);
			assertRuns(context, browser, "500", 1);
		});
	}

	@Test
	void rawFingerprintComparesBytes() {
		String spaced = "{ \"sku\" : \"book\" }";
		run((context) -> {
			Browser browser = new Browser(context);
			browser.post("/orders", "k1", ORDER);
			assertThat(browser.post("/orders", "k1", spaced).statusCode()).isEqualTo(201);
		});
		this.runner.withPropertyValues("idempotency.fingerprint=raw").run((context) -> {
			Browser browser = new Browser(context);
			browser.post("/orders", "k1", ORDER);
			assertProblem(browser.post("/orders", "k1", spaced), 422, "key-reused");
		});
	}

	@Test
	void scopeResolverOfTheApplicationSaysWhoseKeysAre() {
		this.runner.withBean(IdempotencyScopeResolver.class, () -> (request) -> request.getHeader("X-Tenant"))
			.run((context) -> {
				Browser browser = new Browser(context);
				browser.post("/orders", "k1", ORDER, "X-Tenant", "one");
				browser.post("/orders", "k1", ORDER, "X-Tenant", "two");
				browser.post("/orders", "k1", ORDER, "X-Tenant", "one");
				assertThat(context.getBean(OrderController.class).runs()).isEqualTo(2);
			});
	}

	@Test
	void filterStandsBehindSecurityAndSeesEveryDispatch() {
		run((context) -> {
			FilterRegistrationBean<?> filter = context.getBean(FilterRegistrationBean.class);
			assertThat(filter.getFilter().getClass().getName()).isEqualTo("io.idempotency.web.IdempotencyFilter");
			assertThat(filter.getOrder()).isZero();
			assertThat(filter.determineDispatcherTypes()).isEqualTo(EnumSet.of(DispatcherType.REQUEST,
					DispatcherType.ASYNC, DispatcherType.ERROR, DispatcherType.FORWARD));
		});
		this.runner.withPropertyValues("idempotency.http.filter-order=42")
			.run((context) -> assertThat(context.getBean(FilterRegistrationBean.class).getOrder()).isEqualTo(42));
	}

	@Test
	void replaysAreResolvedBeforeAnythingElseTakesNoticeOfThem() {
		run((context) -> {
			new Browser(context).post("/orders", "k1", ORDER);
			assertThat(context.getBean(DispatcherServlet.class)).extracting("handlerExceptionResolvers")
				.asInstanceOf(InstanceOfAssertFactories.list(HandlerExceptionResolver.class))
				.extracting((resolver) -> resolver.getClass().getSimpleName())
				.startsWith("ReplayExceptionResolver", "DefaultErrorAttributes", "IdempotencyProblemResolver");
		});
	}

	/** It has an adapter and resolvers of its own only as long as there are no others. */
	@Test
	void dispatcherThatNobodyConfiguresKeepsItsDefaults() {
		new WebApplicationContextRunner(AnnotationConfigServletWebServerApplicationContext::new)
			.withConfiguration(AutoConfigurations.of(ServletWebServerFactoryAutoConfiguration.class,
					DispatcherServletAutoConfiguration.class, IdempotencyAutoConfiguration.class,
					IdempotencyWebAutoConfiguration.class))
			.withInitializer(new ServerPortInfoApplicationContextInitializer())
			.withPropertyValues("server.port=0")
			.withBean(Texts.class)
			.withBean("/plain", HttpRequestHandler.class,
					() -> (request, response) -> response.getWriter().write("plain"))
			.run((context) -> {
				Browser browser = new Browser(context);
				assertThat(browser.post("/plain", null, "").body()).isEqualTo("plain");
				assertProblem(browser.post("/texts", null, "a"), 400, "key-missing");
				assertThat(browser.post("/texts", "k1", "a").body()).isEqualTo("a in run 1");
				assertThat(browser.post("/texts", "k1", "a").body()).isEqualTo("a in run 1");
				assertThat(browser.post("/texts", "k2", "fail").body()).isEqualTo("failed in run 2");
			});
	}

	@Test
	void typesOfProblemsAreThoseOfTheProperty() {
		this.runner.withPropertyValues("idempotency.http.problem-type-base=https://shop.example/errors#")
			.run((context) -> assertThat(new Browser(context).post("/orders", null, ORDER).body())
				.contains("\"type\":\"https://shop.example/errors#key-missing\""));
	}

	@Test
	void tokensAreThereWithoutTheirEndpoint() {
		run((context) -> {
			assertThat(context).hasSingleBean(IdempotencyTokens.class);
			assertThat(new Browser(context).post("/idempotency/tokens", null, "").statusCode()).isEqualTo(404);
		});
	}

	@Test
	void withoutWebMvcThereIsNoFilter() {
		new WebApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class))
			.withClassLoader(new FilteredClassLoader("org.springframework.web.servlet"))
			.withBean(Payments.class)
			.run((context) -> {
				assertThat(context).doesNotHaveBean(FilterRegistrationBean.class);
				Payments payments = context.getBean(Payments.class);
				assertThat(payments.pay("7")).isEqualTo(payments.pay("7"));
			});
	}

	@Test
	void inAnApplicationWithoutRequestsThereIsNoFilter() {
		new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(FilterRegistrationBean.class));
	}

	private void run(ContextConsumer<AssertableWebApplicationContext> consumer) {
		this.runner.run(consumer);
	}

	private void assertGuarded(AssertableWebApplicationContext context) {
		Browser browser = new Browser(context);
		HttpResponse<String> first = browser.post("/orders", "k1", ORDER);
		HttpResponse<String> second = browser.post("/orders", "k1", ORDER);
		assertThat(second.body()).isEqualTo(first.body());
		assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(context.getBean(OrderController.class).runs()).isEqualTo(1);
	}

	private static void assertRuns(AssertableWebApplicationContext context, Browser browser, String status, int runs) {
		OrderController controller = context.getBean(OrderController.class);
		int before = controller.runs();
		for (int i = 0; i < 2; i++) {
			HttpResponse<String> response = browser.post("/status", "key-" + status, "", "X-Status", status);
			assertThat(response.statusCode()).isEqualTo(Integer.parseInt(status));
		}
		assertThat(controller.runs() - before).as(status).isEqualTo(runs);
	}

	private static void assertProblem(HttpResponse<String> response, int status, String code) {
		assertThat(response.statusCode()).isEqualTo(status);
		assertThat(response.headers().firstValue("Content-Type")).hasValue("application/problem+json");
		assertThat(response.body()).contains("\"code\":\"" + code + "\"");
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ ServletWebServerFactoryAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
			WebMvcAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class, JacksonAutoConfiguration.class,
			IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class })
	@Import(LedgerController.class)
	static class LedgerApplication {

		@Bean
		Ledger ledger() {
			return new BookedLedger();
		}

	}

	interface Ledger {

		String enter();

	}

	static class BookedLedger implements Ledger {

		private final AtomicInteger entries = new AtomicInteger();

		@Override
		@Idempotent(body = "/sku")
		public String enter() {
			return "entry " + this.entries.incrementAndGet();
		}

	}

	@RestController
	static class LedgerController {

		private final ObjectProvider<Ledger> ledger;

		LedgerController(ObjectProvider<Ledger> ledger) {
			this.ledger = ledger;
		}

		@PostMapping("/ledger")
		String enter() {
			return this.ledger.getObject().enter();
		}

	}

	/** Needs nothing but what a dispatcher has by default. */
	@RestController
	static class Texts {

		private final AtomicInteger runs = new AtomicInteger();

		@PostMapping("/texts")
		@Idempotent
		public String post(@RequestBody String text) {
			int run = this.runs.incrementAndGet();
			if (text.equals("fail")) {
				throw new IllegalStateException("failed in run " + run);
			}
			return text + " in run " + run;
		}

		@ExceptionHandler
		ResponseEntity<String> failed(IllegalStateException ex) {
			return ResponseEntity.status(503).body(ex.getMessage());
		}

	}

	/** Orders come on two ways. */
	static class RoutedOrders {

		@Bean
		RouterFunction<ServerResponse> routes(IdempotentRoutes guard) {
			return RouterFunctions.route()
				.POST("/routed", (request) -> ServerResponse.ok().build())
				.filter(guard.filter("orders.place"))
				.build();
		}

		@Idempotent(key = "#id", operation = "orders.place")
		public void place(String id) {
		}

	}

}
