package io.idempotency.autoconfigure;

import io.idempotency.Idempotent;
import io.idempotency.NotIdempotent;
import io.idempotency.OperationCoverage;
import io.idempotency.OperationCoverage.Entry;
import io.idempotency.OperationCoverage.Status;
import io.idempotency.web.IdempotentRoutes;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.function.RouterFunction;
import org.springframework.web.servlet.function.RouterFunctions;
import org.springframework.web.servlet.function.ServerResponse;

import static org.assertj.core.api.Assertions.assertThat;

class ApplicationCoverageTests {

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class,
				IdempotencyWebAutoConfiguration.class, WebMvcAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory", "idempotency.namespace=test");

	@Test
	void listsHandlersAndRoutesThatChangeSomething() {
		this.runner.withUserConfiguration(Orders.class, Routes.class)
			.run((context) -> assertThat(context.getBean(OperationCoverage.class).entries()).containsExactly(
					new Entry("DELETE /orders/{id} (Orders#cancel(String))", Status.UNDECIDED, null),
					new Entry("POST /orders (Orders#place(String))", Status.GUARDED, null),
					new Entry("POST /search (Orders#search(String))", Status.NOT_IDEMPOTENT, "It only reads"),
					new Entry("any method /any (Orders#any())", Status.UNDECIDED, null),
					new Entry("route (POST && /open)", Status.UNDECIDED, null),
					new Entry("route (POST && /payments)", Status.GUARDED, null),
					new Entry("route /refunds (DELETE && /{id})", Status.NOT_IDEMPOTENT, "DELETE is repeatable")));
	}

	@Test
	void doesNotGuardAnExcludedMethodOfAGuardedClass() {
		this.runner.withUserConfiguration(GuardedClass.class)
			.run((context) -> assertThat(context.getBean(OperationCoverage.class).entries()).containsExactly(
					new Entry("POST /one (GuardedClass#one())", Status.GUARDED, null),
					new Entry("POST /other (GuardedClass#other())", Status.NOT_IDEMPOTENT, "It only reads")));
	}

	@Test
	void rejectsBothAnnotationsAtStartup() {
		this.runner.withUserConfiguration(Both.class)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.rootCause()
				.hasMessageContaining("both @Idempotent and @NotIdempotent"));
	}

	@Test
	void rejectsBlankReasonAtStartup() {
		this.runner.withUserConfiguration(Blank.class)
			.run((context) -> assertThat(context).hasFailed()
				.getFailure()
				.rootCause()
				.hasMessageContaining("the reason of its @NotIdempotent is blank"));
	}

	@RestController
	static class Orders {

		@PostMapping("/orders")
		@Idempotent
		String place(String order) {
			return order;
		}

		@PostMapping("/search")
		@NotIdempotent("It only reads")
		String search(String query) {
			return query;
		}

		@DeleteMapping("/orders/{id}")
		void cancel(String id) {
		}

		@GetMapping("/orders")
		String list() {
			return "";
		}

		@RequestMapping("/any")
		String any() {
			return "";
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Routes {

		@Bean
		RouterFunction<ServerResponse> payments(IdempotentRoutes routes) {
			return RouterFunctions.route()
				.POST("/payments", (request) -> ServerResponse.ok().build())
				.GET("/payments", (request) -> ServerResponse.ok().build())
				.filter((request, next) -> next.handle(request))
				.filter(routes.filter("payments"))
				.onError(IllegalStateException.class, (failure, request) -> ServerResponse.badRequest().build())
				.build();
		}

		@Bean
		RouterFunction<ServerResponse> others(IdempotentRoutes routes) {
			return RouterFunctions.route()
				.POST("/open", (request) -> ServerResponse.ok().build())
				.path("/refunds",
						(nested) -> nested.DELETE("/{id}", (request) -> ServerResponse.ok().build())
							.filter(routes.notIdempotent("DELETE is repeatable")))
				.build();
		}

	}

	@RestController
	@Idempotent
	static class GuardedClass {

		@PostMapping("/one")
		String one() {
			return "";
		}

		@PostMapping("/other")
		@NotIdempotent("It only reads")
		String other() {
			return "";
		}

	}

	@RestController
	static class Both {

		@PostMapping("/both")
		@Idempotent
		@NotIdempotent("It only reads")
		String both() {
			return "";
		}

	}

	@RestController
	@Idempotent
	static class Blank {

		@PostMapping("/blank")
		@NotIdempotent(" ")
		String blank() {
			return "";
		}

	}

}
