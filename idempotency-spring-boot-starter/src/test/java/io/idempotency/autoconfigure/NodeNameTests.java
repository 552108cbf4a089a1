package io.idempotency.autoconfigure;

import java.util.Map;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.observation.Traces;
import io.idempotency.store.ClaimOrigin;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** The node that a record shows, with and without traces. */
class NodeNameTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class,
				IdempotencyObservationAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	private static String nodeOfACall(ApplicationContext context) {
		context.getBean(IdempotencyTemplate.class).operation("pay").key("7").execute(String.class, () -> "paid");
		return String.valueOf(context.getBean(IdempotencyAdmin.class)
			.find("pay", IdempotencyCaller.none(), "7")
			.orElseThrow()
			.node());
	}

	@Test
	void recordShowsTheNodeThatIsSet() {
		this.runner.withPropertyValues("idempotency.node=node-1")
			.run((context) -> assertThat(nodeOfACall(context)).isEqualTo("node-1"));
	}

	@Test
	void recordShowsTheProcessByDefault() {
		this.runner.run((context) -> assertThat(nodeOfACall(context)).endsWith(":" + ProcessHandle.current().pid()));
	}

	@Test
	void callsAreTracedWhereThereIsATracer() {
		ApplicationContextRunner observed = this.runner.withBean(ObservationRegistry.class, ObservationRegistry::create)
			.withPropertyValues("idempotency.node=node-1");
		observed.run((context) -> assertThat(context).doesNotHaveBean(Traces.class));
		observed.withClassLoader(new FilteredClassLoader(Tracer.class))
			.run((context) -> assertThat(nodeOfACall(context)).isEqualTo("node-1"));
		observed.withBean(Tracer.class, () -> Tracer.NOOP).run((context) -> {
			assertThat(context).hasSingleBean(Traces.class);
			assertThat(nodeOfACall(context)).isEqualTo("node-1");
		});
	}

	@Test
	void usualNameIsMadeOfWhatTheEnvironmentTells() {
		assertThat(NodeName.usual(Map.of("HOSTNAME", "orders-7d9f", "COMPUTERNAME", "PC"), 1))
			.isEqualTo("orders-7d9f:1");
		assertThat(NodeName.usual(Map.of("COMPUTERNAME", "PC"), 42)).isEqualTo("PC:42");
		assertThat(NodeName.usual(Map.of(), 42)).isEqualTo(":42");
	}

	@Test
	void usualNameOfAnyHostIsValid() {
		String name = NodeName.usual(Map.of("HOSTNAME", "b\u00fcro 7 " + "x".repeat(300)), Long.MAX_VALUE);
		assertThat(name).isEqualTo("b_ro_7_" + "x".repeat(37) + ":" + Long.MAX_VALUE);
		assertThat(new ClaimOrigin(name, null, null).node()).isEqualTo(name);
	}

}
