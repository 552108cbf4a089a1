package io.idempotency.it.coverage;

import io.idempotency.Idempotent;
import io.idempotency.NotIdempotent;
import io.idempotency.OperationCoverage.Entry;
import io.idempotency.OperationCoverage.Status;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.webflux.IdempotencyWebFluxAutoConfiguration;
import io.idempotency.test.IdempotencyCoverage;
import io.idempotency.webflux.IdempotentRoutes;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.ai.tool.annotation.Tool;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.graphql.data.method.annotation.MutationMapping;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class OperationCoverageTests {

	private static final String[] PROPERTIES = { "idempotency.store=memory", "idempotency.namespace=test" };

	@Test
	void listsListenersMutationsAndTools() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withPropertyValues(PROPERTIES)
			.withBean(Operations.class)
			.run((context) -> assertThat(IdempotencyCoverage.of(context).entries()).containsExactly(
					new Entry("listener (Operations#received(String))", Status.UNDECIDED, null),
					new Entry("mutation (Operations#rename(String))", Status.NOT_IDEMPOTENT, "It sets a value"),
					new Entry("tool (Operations#book(String))", Status.GUARDED, null)));
	}

	@Test
	void listsHandlersAndRoutesOfWebFlux() {
		new ReactiveWebApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class,
					IdempotencyWebFluxAutoConfiguration.class))
			.withPropertyValues(PROPERTIES)
			.withUserConfiguration(Reactive.class, Orders.class)
			.run((context) -> {
				assertThat(IdempotencyCoverage.of(context).entries()).containsExactly(
						new Entry("POST /orders (Orders#place())", Status.GUARDED, null),
						new Entry("PUT /orders/{id} (Orders#change())", Status.UNDECIDED, null),
						new Entry("route (POST && /open)", Status.NOT_IDEMPOTENT, "It only reads"),
						new Entry("route (POST && /payments)", Status.GUARDED, null));
				assertThatExceptionOfType(AssertionError.class)
					.isThrownBy(() -> IdempotencyCoverage.of(context).assertDecided())
					.withMessageContaining("  - PUT /orders/{id} (Orders#change())")
					.withMessageNotContaining("/payments")
					.withMessageContaining("Add @Idempotent, or @NotIdempotent with the reason");
			});
	}

	@Test
	void failsWithoutTheStarter() {
		new ApplicationContextRunner().run((context) -> assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> IdempotencyCoverage.of((ApplicationContext) context))
			.withMessageContaining("OperationCoverage"));
	}

	static class Operations {

		@KafkaListener(topics = "orders")
		void received(String order) {
		}

		@MutationMapping
		@NotIdempotent("It sets a value")
		String rename(String name) {
			return name;
		}

		@QueryMapping
		String name() {
			return "";
		}

		@Tool
		@Idempotent(key = "#seat")
		public String book(String seat) {
			return seat;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableWebFlux
	static class Reactive {

		@Bean
		RouterFunction<ServerResponse> payments(IdempotentRoutes routes) {
			return RouterFunctions.route()
				.POST("/payments", (request) -> ServerResponse.ok().build())
				.filter(routes.filter("payments"))
				.build();
		}

		@Bean
		RouterFunction<ServerResponse> open(IdempotentRoutes routes) {
			return RouterFunctions.route()
				.POST("/open", (request) -> ServerResponse.ok().build())
				.GET("/open", (request) -> ServerResponse.ok().build())
				.filter(routes.notIdempotent("It only reads"))
				.build();
		}

	}

	@RestController
	static class Orders {

		@PostMapping("/orders")
		@Idempotent
		Mono<String> place() {
			return Mono.just("");
		}

		@PutMapping("/orders/{id}")
		Mono<String> change() {
			return Mono.just("");
		}

		@GetMapping("/orders")
		Mono<String> list() {
			return Mono.just("");
		}

	}

}
