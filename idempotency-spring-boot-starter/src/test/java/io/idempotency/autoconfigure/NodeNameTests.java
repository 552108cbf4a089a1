package io.idempotency.autoconfigure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.autoconfigure.actuate.IdempotencyObservationAutoConfiguration;
import io.idempotency.store.ClaimOrigin;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

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
		observed.run((context) -> assertThat(context).doesNotHaveBean("idempotencyTraces"));
		observed.withClassLoader(new FilteredClassLoader(Tracer.class))
			.run((context) -> assertThat(nodeOfACall(context)).isEqualTo("node-1"));
		observed.withBean(Tracer.class, () -> Tracer.NOOP).run((context) -> {
			assertThat(context).hasBean("idempotencyTraces");
			assertThat(nodeOfACall(context)).isEqualTo("node-1");
		});
	}

	@Test
	void usualNameIsMadeOfWhatTheEnvironmentTells() {
		assertThat(NodeName.usual(Map.of("HOSTNAME", "orders-7d9f", "COMPUTERNAME", "PC"), List.of(), 1))
			.isEqualTo("orders-7d9f:1");
		assertThat(NodeName.usual(Map.of("COMPUTERNAME", "PC"), List.of(), 42)).isEqualTo("PC:42");
		assertThat(NodeName.usual(Map.of(), List.of(), 42)).isEqualTo(":42");
	}

	@Test
	void usualNameIsThatOfTheMachineWhereTheEnvironmentTellsNone(@TempDir Path directory) throws IOException {
		Path kernel = Files.writeString(directory.resolve("kernel"), "orders-7d9f\n");
		Path empty = Files.writeString(directory.resolve("empty"), "\n");
		Path missing = directory.resolve("missing");
		assertThat(NodeName.usual(Map.of("HOSTNAME", ""), List.of(missing, empty, kernel), 1))
			.isEqualTo("orders-7d9f:1");
		assertThat(NodeName.usual(Map.of("HOSTNAME", "pod"), List.of(kernel), 1)).isEqualTo("pod:1");
	}

	@Test
	@EnabledOnOs(OS.LINUX)
	void linuxTellsTheNameOfItsHost() throws IOException {
		String host = Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
		assertThat(NodeName.usual(Map.of(), NodeName.FILES, 42)).isNotEqualTo(":42").startsWith(host.substring(0, 1));
	}

	@Test
	void usualNameOfAnyHostIsValid() {
		String name = NodeName.usual(Map.of("HOSTNAME", "b\u00fcro 7 " + "x".repeat(300)), List.of(), Long.MAX_VALUE);
		assertThat(name).isEqualTo("b_ro_7_" + "x".repeat(37) + ":" + Long.MAX_VALUE);
		assertThat(new ClaimOrigin(name, null, null).node()).isEqualTo(name);
	}

}
