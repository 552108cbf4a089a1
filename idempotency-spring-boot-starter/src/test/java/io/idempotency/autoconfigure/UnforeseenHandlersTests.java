package io.idempotency.autoconfigure;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import jakarta.servlet.Filter;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.server.ErrorPage;
import org.springframework.boot.web.server.ErrorPageRegistrar;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Controller;
import org.springframework.util.StreamUtils;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.ResponseBody;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Guarded handlers that are reached by requests that, as they came, could not meet any.
 */
class UnforeseenHandlersTests {

	private static final String FORM = "application/x-www-form-urlencoded";

	private static final AtomicInteger runs = new AtomicInteger();

	private ConfigurableApplicationContext application;

	@BeforeEach
	void start() {
		this.application = new SpringApplicationBuilder(Application.class)
			.properties("server.port=0", "idempotency.store=memory", "spring.main.banner-mode=off",
					"server.servlet.context-path=/shop", "spring.mvc.servlet.path=/v1")
			.run();
		runs.set(0);
	}

	@AfterEach
	void stop() {
		this.application.close();
	}

	@ParameterizedTest
	@CsvSource({ "/rewritten", "/include", "/forward" })
	void failsBeforeItRunsAndIsGuardedFromThenOn(String path) throws Exception {
		// What comes bit by bit may have been read before.
		BodyPublisher body = path.equals("/forward")
				? BodyPublishers.ofInputStream(() -> new ByteArrayInputStream("x".getBytes(StandardCharsets.UTF_8)))
				: BodyPublishers.noBody();
		assertThat(post(path, "text/plain", body).statusCode()).isEqualTo(500);
		assertThat(runs).hasValue(0);
		assertThat(post(path, "text/plain", body).body()).isEqualTo("run 1");
		post(path, "text/plain", body);
		assertThat(runs).hasValue(1);
	}

	@ParameterizedTest
	@CsvSource({ "text/plain, one", "application/json, {}", FORM + ", amount=1" })
	void neverRunsOnABodyThatWasReadBefore(String contentType, String body) throws Exception {
		for (int i = 0; i < 3; i++) {
			assertThat(post("/read-and-forward", contentType, BodyPublishers.ofString(body)).statusCode())
				.isEqualTo(500);
		}
		assertThat(runs).hasValue(0);
	}

	/** The container adds the parameters of the first query to those of the second. */
	@Test
	void takesNoQueryForABodyThatWasReadBefore() throws Exception {
		for (int i = 0; i < 3; i++) {
			assertThat(post("/read-and-forward-with-query?a=1", "application/x-www-form-urlencoded",
					BodyPublishers.ofString("amount=5"))
				.statusCode()).isEqualTo(500);
		}
		assertThat(runs).hasValue(0);
	}

	@Test
	void saysWhyWhereABodyWasReadAsTextBefore() throws Exception {
		HttpResponse<String> answer = post("/read-text-and-forward", "text/plain", BodyPublishers.ofString("x"));
		assertThat(answer.statusCode()).isEqualTo(500);
		assertThat(answer.body()).contains("From now on every request is wrapped");
		assertThat(runs).hasValue(0);
	}

	@Test
	void errorPageIsGuarded() throws Exception {
		HttpResponse<String> first = post("/broken", "text/plain", BodyPublishers.noBody());
		assertThat(first.statusCode()).isEqualTo(418);
		assertThat(first.body()).isEqualTo("run 1");
		HttpResponse<String> second = post("/broken", "text/plain", BodyPublishers.noBody());
		assertThat(second.statusCode()).isEqualTo(418);
		assertThat(second.body()).isEqualTo("run 1");
		assertThat(runs).hasValue(1);
	}

	@Test
	void handlerBelowContextAndServletIsGuarded() throws Exception {
		assertThat(post("/pay", "text/plain", BodyPublishers.ofString("x")).body()).isEqualTo("run 1");
		assertThat(post("/pay", "text/plain", BodyPublishers.ofString("x")).body()).isEqualTo("run 1");
	}

	private HttpResponse<String> post(String path, String contentType, BodyPublisher body) throws Exception {
		String port = this.application.getEnvironment().getRequiredProperty("local.server.port");
		return HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/shop/v1" + path))
				.version(HttpClient.Version.HTTP_1_1)
				.header("Idempotency-Key", "k1")
				.header("Content-Type", contentType)
				.POST(body)
				.build(), HttpResponse.BodyHandlers.ofString());
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ ServletWebServerFactoryAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
			WebMvcAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class,
			IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class })
	@Import(Handlers.class)
	static class Application {

		/** Comes after the filter of the library. */
		@Bean
		FilterRegistrationBean<Filter> rewriting() {
			FilterRegistrationBean<Filter> filter = new FilterRegistrationBean<>((request, response, chain) -> chain
				.doFilter(new HttpServletRequestWrapper((HttpServletRequest) request) {

					@Override
					public String getRequestURI() {
						return super.getRequestURI().replace("/rewritten", "/pay");
					}

				}, response));
			filter.setOrder(100);
			return filter;
		}

		@Bean
		ErrorPageRegistrar errorPages() {
			return (registry) -> registry.addErrorPages(new ErrorPage(HttpStatus.I_AM_A_TEAPOT, "/v1/error-page"));
		}

	}

	@Controller
	static class Handlers {

		@PostMapping("/pay")
		@Idempotent
		@ResponseBody
		String pay(@RequestBody(required = false) String body) {
			return "run " + runs.incrementAndGet();
		}

		@RequestMapping("/error-page")
		@Idempotent
		@ResponseBody
		String errorPage() {
			return "run " + runs.incrementAndGet();
		}

		@PostMapping("/forward")
		String forward() {
			return "forward:/v1/pay";
		}

		@PostMapping("/read-and-forward")
		String readAndForward(HttpServletRequest request) throws IOException {
			StreamUtils.drain(request.getInputStream());
			return "forward:/v1/pay";
		}

		@PostMapping("/read-and-forward-with-query")
		String readAndForwardWithQuery(HttpServletRequest request) throws IOException {
			StreamUtils.drain(request.getInputStream());
			return "forward:/v1/pay?x=1";
		}

		@PostMapping("/read-text-and-forward")
		String readTextAndForward(HttpServletRequest request) throws IOException {
			request.getReader().read();
			return "forward:/v1/pay";
		}

		@PostMapping("/include")
		void include(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
			request.getRequestDispatcher("/v1/pay").include(request, response);
		}

		@PostMapping("/broken")
		void broken(HttpServletResponse response) throws IOException {
			response.sendError(HttpStatus.I_AM_A_TEAPOT.value());
		}

	}

}
