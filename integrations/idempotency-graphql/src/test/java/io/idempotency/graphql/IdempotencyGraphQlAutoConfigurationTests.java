package io.idempotency.graphql;

import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.engine.IdempotencyAutoConfiguration;
import io.idempotency.autoconfigure.web.IdempotencyWebAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.graphql.data.method.annotation.MutationMapping;
import org.springframework.graphql.execution.DataFetcherExceptionResolver;
import org.springframework.stereotype.Controller;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class IdempotencyGraphQlAutoConfigurationTests {

	private static final String LINE = "Nothing is known to tell the callers of guarded requests apart";

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
			.contains(
					"GraphQL: 1 field(s) are guarded, each by itself. A request that carries documents is never guarded "
							+ "as a whole");
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

	private static void run(WebApplicationContextRunner runner) {
		runner.run((context) -> assertThat(context).hasNotFailed());
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
