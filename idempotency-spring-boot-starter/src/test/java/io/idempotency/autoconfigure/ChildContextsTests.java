package io.idempotency.autoconfigure;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.web.servlet.ServletRegistrationBean;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.support.AnnotationConfigWebApplicationContext;
import org.springframework.web.servlet.DispatcherServlet;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Annotated beans in contexts of their own below that of the application. */
class ChildContextsTests {

	private static final AtomicInteger runs = new AtomicInteger();

	private ConfigurableApplicationContext application;

	@BeforeEach
	void start() {
		runs.set(0);
		this.application = new SpringApplicationBuilder(Application.class)
			.properties("server.port=0", "idempotency.store=memory", "spring.main.banner-mode=off")
			.run();
	}

	@AfterEach
	void stop() {
		this.application.close();
	}

	@Test
	void secondServletWithoutTheGuardRunsNothing() throws Exception {
		assertThat(post("/unguarded/pay").statusCode()).isEqualTo(500);
		assertThat(post("/unguarded/pay").statusCode()).isEqualTo(500);
		assertThat(runs).hasValue(0);
	}

	@Test
	void secondServletWithTheGuardReplays() throws Exception {
		HttpResponse<String> first = post("/guarded/pay");
		HttpResponse<String> second = post("/guarded/pay");
		assertThat(first.body()).isEqualTo("run 1");
		assertThat(second.body()).isEqualTo("run 1");
		assertThat(second.headers().firstValue("Idempotent-Replayed")).hasValue("true");
		assertThat(runs).hasValue(1);
	}

	@Test
	void childThatIsRejectedSaysWhatToImport() {
		assertThatExceptionOfType(IdempotencyConfigurationException.class)
			.isThrownBy(() -> child(Payments.class).close())
			.withMessageContaining(Payments.class.getName())
			.satisfies((failure) -> assertThat(failure.action())
				.contains("@Import(io.idempotency.autoconfigure.IdempotencyGuardConfiguration.class)"));
	}

	@Test
	void parentWhoseBeansNobodyGuardsIsRejectedToo() {
		try (AnnotationConfigApplicationContext parent = new AnnotationConfigApplicationContext(Payments.class)) {
			assertThatExceptionOfType(IdempotencyConfigurationException.class).isThrownBy(() -> below(parent).close())
				.withMessageContaining(Payments.class.getName())
				.satisfies((failure) -> assertThat(failure.action()).contains("child context"));
		}
	}

	/** As clients and load balancers of Spring Cloud have them. */
	@ParameterizedTest
	@ValueSource(classes = { Object.class, GuardedBeans.class })
	void otherChildrenStart(Class<?> bean) {
		try (ConfigurableApplicationContext child = child(bean)) {
			assertThat(child.isActive()).isTrue();
		}
	}

	/** Else the engine of the application would be closed with it. */
	@Test
	void childWithAConfigurationOfItsOwnEndsAlone() throws Exception {
		below(this.application).close();
		assertThat(post("/guarded/pay").statusCode()).isEqualTo(200);
	}

	private static ConfigurableApplicationContext below(ConfigurableApplicationContext parent) {
		return new SpringApplicationBuilder(Child.class).parent(parent)
			.properties("spring.main.web-application-type=none", "spring.main.banner-mode=off",
					"idempotency.store=memory")
			.run();
	}

	private AnnotationConfigApplicationContext child(Class<?> bean) {
		AnnotationConfigApplicationContext child = new AnnotationConfigApplicationContext();
		child.setParent(this.application);
		child.register(bean);
		child.refresh();
		return child;
	}

	private HttpResponse<String> post(String path) throws Exception {
		String port = this.application.getEnvironment().getRequiredProperty("local.server.port");
		return HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
				.header("Idempotency-Key", "k1")
				.POST(HttpRequest.BodyPublishers.noBody())
				.build(), HttpResponse.BodyHandlers.ofString());
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ ServletWebServerFactoryAutoConfiguration.class, DispatcherServletAutoConfiguration.class,
			IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class })
	static class Application {

		@Bean
		ServletRegistrationBean<DispatcherServlet> unguarded() {
			return servlet("unguarded", Web.class);
		}

		@Bean
		ServletRegistrationBean<DispatcherServlet> guarded() {
			return servlet("guarded", GuardedWeb.class);
		}

		private static ServletRegistrationBean<DispatcherServlet> servlet(String name, Class<?> configuration) {
			AnnotationConfigWebApplicationContext child = new AnnotationConfigWebApplicationContext();
			child.register(configuration);
			ServletRegistrationBean<DispatcherServlet> servlet = new ServletRegistrationBean<>(
					new DispatcherServlet(child), "/" + name + "/*");
			servlet.setName(name);
			return servlet;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebMvc
	@Import(Payments.class)
	static class Web {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebMvc
	@Import({ Payments.class, IdempotencyGuardConfiguration.class })
	static class GuardedWeb {

	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Payments.class, IdempotencyGuardConfiguration.class })
	static class GuardedBeans {

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(IdempotencyAutoConfiguration.class)
	static class Child {

	}

	@RestController
	static class Payments {

		@PostMapping("/pay")
		@Idempotent
		public String pay() {
			return "run " + runs.incrementAndGet();
		}

	}

}
