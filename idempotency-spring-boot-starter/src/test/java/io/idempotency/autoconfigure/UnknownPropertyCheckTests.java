package io.idempotency.autoconfigure;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class UnknownPropertyCheckTests {

	private final ApplicationContextRunner context = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class));

	@ParameterizedTest
	@ValueSource(strings = { "scope-headers[0]", "http.scope-header", "http.ignoreParameters", "retention-on-error",
			"write-operations", "jdbc.cleanup.intervall", "zzz" })
	void logsNameThatIsUnknown(String name, CapturedOutput output) {
		this.context.withPropertyValues("idempotency." + name + "=1").run((started) -> {
			assertThat(started).hasNotFailed();
			assertThat(output).containsOnlyOnce("is ignored. Correct its name or remove it.");
		});
	}

	@Test
	void namesOfTheLibraryAndOfOthersAreNotTold(CapturedOutput output) {
		this.context
			.withPropertyValues("idempotency.http.scopeHeaders=X-Tenant", "idempotency.http.release-on[0]=5xx",
					"idempotency.encryption.keys.a1=AAAAAAAAAAAAAAAAAAAAAA==", "idempotency.encryption.active-key=a1",
					"idempotency.jdbc.cleanup.interval=5m", "idempotency.advisor-order=1000", "idempotencyx.zzz=1",
					"management.endpoint.idempotency.access=none")
			.withInitializer((started) -> started.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("systemEnvironment", Map.of("IDEMPOTENCY_ZZZ", "1"))))
			.withSystemProperties("idempotency.zzz=1")
			.run((started) -> {
				assertThat(started).hasNotFailed();
				assertThat(output).doesNotContain("Unknown property");
			});
	}

}
