package io.idempotency.it.graphql;

import java.util.List;

import graphql.execution.instrumentation.Instrumentation;
import graphql.execution.instrumentation.SimplePerformantInstrumentation;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyConfigurationException;
import io.idempotency.Idempotent;
import io.idempotency.RememberedFailureException;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.graphql.IdempotencyGraphQlAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.graphql.data.method.annotation.GraphQlExceptionHandler;
import org.springframework.graphql.data.method.annotation.MutationMapping;
import org.springframework.graphql.data.method.annotation.SchemaMapping;
import org.springframework.graphql.execution.GraphQlSource;
import org.springframework.stereotype.Controller;

import static org.assertj.core.api.Assertions.assertThat;

/** What the start-up says about guarded fields. */
class GraphQlStartupTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyGraphQlAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	@Test
	void aSourceThatDoesNotTellItsFieldsIsRejected() {
		this.runner.withUserConfiguration(OtherSource.class)
			.withBean(Mutations.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining("A GraphQlSource does not provide the current field"));
		this.runner.withUserConfiguration(OtherSource.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aSourceWithAllInstrumentationsTellsItsFields() {
		this.runner.withUserConfiguration(WholeSource.class)
			.withBean("other", Instrumentation.class, SimplePerformantInstrumentation::new)
			.withBean(Mutations.class)
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(classes = { OrderOps.class, NamedOrderOps.class })
	void rejectsClassWhoseAnnotationLeavesOutMutationsOfANamespace(Class<?> controller) {
		this.runner.withBean(controller)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOf(IdempotencyConfigurationException.class)
				.hasMessageContaining("may be mutations of a namespace")
				.hasMessageContaining(controller.getSimpleName() + ".pay"));
	}

	@Test
	void acceptsGuardedMutationsOfANamespace() {
		this.runner.withBean(GuardedOrderOps.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void aRememberedFailureIsNotAnsweredByAHandlerOfItsControllerAlone() {
		this.runner.withBean(OwnHandler.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("OwnHandler#pay()': its failure is remembered"));
		this.runner.withBean(WholeHandler.class).run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void failsAndNamesTheArtifactWhenTheModuleIsMissing() {
		new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
			.withPropertyValues("idempotency.store=memory")
			.withClassLoader(new FilteredClassLoader("io.idempotency.graphql"))
			.withBean(Mutations.class)
			.run((context) -> assertThat(context).getFailure()
				.isInstanceOfSatisfying(IdempotencyConfigurationException.class,
						(failure) -> assertThat(failure.action())
							.isEqualTo("Add the dependency io.idempotency:idempotency-graphql")));
	}

	private static GraphQlSource.SchemaResourceBuilder source() {
		return GraphQlSource.schemaResourceBuilder()
			.schemaResources(new ByteArrayResource("type Query { a: Int } type Mutation { pay: String }".getBytes()));
	}

	@Configuration(proxyBeanMethods = false)
	static class OtherSource {

		@Bean
		GraphQlSource source() {
			return GraphQlStartupTests.source().build();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class WholeSource {

		@Bean
		GraphQlSource source(List<Instrumentation> instrumentations) {
			return GraphQlStartupTests.source().instrumentation(instrumentations).build();
		}

	}

	record OrderMutations(String id) {
	}

	record Order(String id) {
	}

	@Controller
	@Idempotent
	public static class OrderOps {

		@MutationMapping
		public OrderMutations order() {
			return new OrderMutations("1");
		}

		@SchemaMapping
		public Order pay(OrderMutations order) {
			return new Order(order.id());
		}

	}

	@Controller
	@Idempotent
	@SchemaMapping(typeName = "OrderMutations")
	public static class NamedOrderOps {

		@SchemaMapping
		public Order pay() {
			return new Order("1");
		}

	}

	@Controller
	@Idempotent
	public static class GuardedOrderOps {

		@Idempotent
		@SchemaMapping
		public Order pay(OrderMutations order) {
			return new Order(order.id());
		}

	}

	@Controller
	public static class Mutations {

		@MutationMapping
		@Idempotent
		public String pay() {
			return "paid";
		}

	}

	@Controller
	static class OwnHandler {

		@MutationMapping
		@Idempotent(onFailure = FailureMode.REMEMBER)
		public String pay() {
			throw new IllegalStateException("not paid");
		}

		@GraphQlExceptionHandler
		String failed(IllegalStateException ex) {
			return "failed";
		}

	}

	@Controller
	static class WholeHandler {

		@MutationMapping
		@Idempotent(onFailure = FailureMode.REMEMBER)
		public String pay() {
			throw new IllegalStateException("not paid");
		}

		@GraphQlExceptionHandler({ IllegalStateException.class, RememberedFailureException.class })
		String failed(RuntimeException ex) {
			return "failed";
		}

	}

}
