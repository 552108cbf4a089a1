package io.idempotency.graphql;

import java.util.List;

import graphql.execution.DataFetcherResult;
import graphql.schema.DataFetchingEnvironment;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.IdempotencyWebAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.graphql.data.ArgumentValue;
import org.springframework.graphql.data.method.annotation.BatchMapping;
import org.springframework.graphql.data.method.annotation.MutationMapping;
import org.springframework.graphql.data.method.annotation.SchemaMapping;
import org.springframework.graphql.data.method.annotation.SubscriptionMapping;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.stereotype.Controller;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class IdempotencyGraphQlAutoConfigurationTests {

	private static final String LINE = "Callers of guarded requests cannot be distinguished";

	private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DispatcherServletAutoConfiguration.class,
				WebMvcAutoConfiguration.class, IdempotencyAutoConfiguration.class,
				IdempotencyWebAutoConfiguration.class, IdempotencyGraphQlAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	@Test
	void countsMutationsAsRequestsWhenCallersAreUnknown(CapturedOutput output) {
		run(this.runner.withBean(BusinessMutations.class));
		assertThat(output).doesNotContain(LINE);
		run(this.runner.withBean(Mutations.class));
		assertThat(output).containsOnlyOnce(LINE)
			.contains("GraphQL: 1 field(s) are guarded individually. A GraphQL request as a whole is not guarded");
	}

	@Test
	void backsOffWithoutSpringForGraphQlOrWithoutTheGuard() {
		this.runner.withClassLoader(new FilteredClassLoader(DataFetcherExceptionResolver.class))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(IdempotencyGraphQlAutoConfiguration.class));
		this.runner.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(IdempotencyGraphQlAutoConfiguration.class));
	}

	@ParameterizedTest
	@ValueSource(classes = { Subscription.class, NamedSubscription.class })
	void rejectsSubscriptions(Class<?> controller) {
		assertRejected(controller, "GraphQL subscription", "on the mutations");
	}

	@Test
	void rejectsBatches() {
		assertRejected(Batch.class, "loads a batch", "on the mutation that needs the batch");
	}

	@Test
	void rejectsMutationsThatReturnPublishers() {
		assertRejected(ReactiveMutation.class, "continues after the method returns",
				"the result itself or a CompletableFuture of it");
	}

	@Test
	void rejectsResultsWithErrors() {
		assertRejected(MutationWithErrors.class, "errors and a context", "Return the value");
	}

	@ParameterizedTest
	@ValueSource(classes = { ServiceOfArgument.class, ServiceOfEnvironment.class })
	void rejectsArgumentsWhoseJsonDoesNotShowTheirValues(Class<?> service) {
		assertRejected(service, "cannot be", "Set fingerprint");
	}

	private void assertRejected(Class<?> bean, String problem, String action) {
		this.runner.withBean(bean)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class, (failure) -> {
					assertThat(failure).hasMessageContaining(problem);
					assertThat(failure.action()).contains(action);
				}));
	}

	private static void run(WebApplicationContextRunner runner) {
		runner.run((context) -> assertThat(context).hasNotFailed());
	}

	@Controller
	static class Subscription {

		@SubscriptionMapping
		@Idempotent(header = "Idempotency-Key")
		public Flux<String> run(String order) {
			return Flux.just(order);
		}

	}

	@Controller
	static class NamedSubscription {

		@SchemaMapping(typeName = "Subscription")
		@Idempotent(header = "Idempotency-Key")
		public Flux<String> run(String order) {
			return Flux.just(order);
		}

	}

	@Controller
	static class Batch {

		@BatchMapping
		@Idempotent(key = "#a0")
		public List<String> run(List<String> orders) {
			return orders;
		}

	}

	@Controller
	static class ReactiveMutation {

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public Mono<String> run(String order) {
			return Mono.just(order);
		}

	}

	@Controller
	static class MutationWithErrors {

		@MutationMapping
		@Idempotent(header = "Idempotency-Key")
		public DataFetcherResult<String> run(String order) {
			return DataFetcherResult.<String>newResult().data(order).build();
		}

	}

	static class ServiceOfArgument {

		@Idempotent(header = "Idempotency-Key")
		public String run(ArgumentValue<String> order) {
			return "done";
		}

	}

	static class ServiceOfEnvironment {

		@Idempotent(header = "Idempotency-Key")
		public String run(DataFetchingEnvironment environment) {
			return "done";
		}

	}

	@Controller
	static class Mutations {

		@Idempotent
		@MutationMapping
		public String place() {
			return "placed";
		}

	}

	@Controller
	static class BusinessMutations {

		@Idempotent(key = "#id")
		@MutationMapping
		public String place(String id) {
			return "placed";
		}

	}

}
