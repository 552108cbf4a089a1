package io.idempotency.autoconfigure;

import java.util.function.BiConsumer;

import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotencyTokens;
import io.idempotency.Idempotent;
import io.idempotency.key.Namespace;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.ServletWebServerFactoryAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.web.context.ServerPortInfoApplicationContextInitializer;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebServerApplicationContext;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;

/** Two services with one store, and operations of the same names. */
class NamespaceTests {

	private final RecordingStore store = new RecordingStore();

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner(
			AnnotationConfigServletWebServerApplicationContext::new)
		.withConfiguration(AutoConfigurations.of(ServletWebServerFactoryAutoConfiguration.class,
				DispatcherServletAutoConfiguration.class, WebMvcAutoConfiguration.class,
				HttpMessageConvertersAutoConfiguration.class, JacksonAutoConfiguration.class,
				IdempotencyAutoConfiguration.class, IdempotencyWebAutoConfiguration.class))
		.withInitializer(new ServerPortInfoApplicationContextInitializer())
		.withPropertyValues("server.port=0")
		.withBean(IdempotencyStore.class, () -> this.store)
		.withBean(Shop.class)
		.withBean(Ledger.class);

	@Test
	void servicesOfTwoNamesNeverMeet() {
		run("spring.application.name=one", "spring.application.name=two", (one, two) -> {
			assertThat(place(one)).isEqualTo("placed by one");
			assertThat(place(two)).isEqualTo("placed by two");
			assertThat(one.getBean(Ledger.class).book("7")).isEqualTo("booked by one");
			assertThat(two.getBean(Ledger.class).book("7")).isEqualTo("booked by two");
			assertThat(template(one, "by one")).isEqualTo("by one");
			assertThat(template(two, "by two")).isEqualTo("by two");
			assertThat(this.store.claims).extracting((claim) -> claim.key().label())
				.containsExactly("one:order.place", "two:order.place", "one:ledger.book", "two:ledger.book",
						"one:template", "two:template");
		});
	}

	@Test
	void tokenOfOneServiceIsUnknownToTheOther() {
		run("spring.application.name=one", "spring.application.name=two", (one, two) -> {
			String token = one.getBean(IdempotencyTokens.class).issue().token();
			assertThat(confirm(two, token).statusCode()).isEqualTo(400);
			assertThat(templateWithToken(one, token)).isEqualTo("ran");
		});
		run("idempotency.namespace=shared", "idempotency.namespace=shared", (one, two) -> {
			String token = one.getBean(IdempotencyTokens.class).issue().token();
			assertThat(templateWithToken(two, token)).isEqualTo("ran");
			assertThat(this.store.claims.get(this.store.claims.size() - 1).key().label()).isEqualTo("shared:token");
		});
	}

	@Test
	void equalNamespacesShareWhateverTheServicesAreCalled() {
		run("spring.application.name=one,idempotency.namespace=shop",
				"spring.application.name=two,idempotency.namespace=shop", (one, two) -> {
					assertThat(place(one)).isEqualTo("placed by one");
					assertThat(place(two)).isEqualTo("placed by one");
					assertThat(one.getBean(Ledger.class).book("7")).isEqualTo("booked by one");
					assertThat(two.getBean(Ledger.class).book("7")).isEqualTo("booked by one");
					assertThat(template(one, "by one")).isEqualTo("by one");
					assertThat(template(two, "by two")).isEqualTo("by one");
				});
	}

	/** The label of a record would also be that of another service. */
	@ParameterizedTest
	@ValueSource(strings = { "spring.application.name", "idempotency.namespace" })
	void rejectsNamesWithAColon(String property) {
		this.runner.withPropertyValues(property + "=shop:eu")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("idempotency.namespace")
				.hasMessageContaining("shop:eu"));
	}

	@Test
	void withoutANameThereIsNoNamespace() {
		this.runner.run((context) -> assertThat(context.getBean(Namespace.class)).isEqualTo(Namespace.NONE));
		this.runner.withPropertyValues("spring.application.name=one", "idempotency.namespace=")
			.run((context) -> assertThat(context.getBean(Namespace.class)).isEqualTo(Namespace.NONE));
	}

	private void run(String first, String second,
			BiConsumer<AssertableWebApplicationContext, AssertableWebApplicationContext> test) {
		this.runner.withPropertyValues(first.split(","))
			.withPropertyValues("service=one")
			.run((one) -> this.runner.withPropertyValues(second.split(","))
				.withPropertyValues("service=two")
				.run((two) -> test.accept(one, two)));
	}

	private static String place(AssertableWebApplicationContext service) {
		return new Browser(service).post("/orders", "k1", "{}").body();
	}

	private static java.net.http.HttpResponse<String> confirm(AssertableWebApplicationContext service, String token) {
		return new Browser(service).post("/confirmations", token, "{}");
	}

	private static String template(AssertableWebApplicationContext service, String result) {
		return service.getBean(IdempotencyTemplate.class)
			.operation("template")
			.key("7")
			.execute(String.class, () -> result);
	}

	private static String templateWithToken(AssertableWebApplicationContext service, String token) {
		return service.getBean(IdempotencyTemplate.class)
			.operation("template")
			.token(token)
			.execute(String.class, () -> "ran");
	}

	@RestController
	static class Shop {

		@Value("${service:none}")
		private String service = "none";

		@Idempotent(operation = "order.place")
		@PostMapping("/orders")
		String place() {
			return "placed by " + this.service;
		}

		@Idempotent(operation = "order.confirm", token = true)
		@PostMapping("/confirmations")
		String confirm() {
			return "confirmed by " + this.service;
		}

	}

	static class Ledger {

		@Value("${service:none}")
		private String service = "none";

		@Idempotent(operation = "ledger.book", key = "#id")
		public String book(String id) {
			return "booked by " + this.service;
		}

	}

}
