package io.idempotency.autoconfigure;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
	@CsvSource({ "idempotency.scope-headers[0], http.scope-headers",
			"idempotency.http.scope-header, http.scope-headers",
			"idempotency.http.ignoreParameters, http.ignored-parameters",
			"idempotency.retention-on-error, http.retention-on-error",
			"idempotency.write-operations, admin.write-operations",
			"idempotency.jdbc.cleanup.intervall, jdbc.cleanup.interval" })
	void nameThatHasLostItsGroupOrALetterIsToldWithTheOneThatIsMeant(String name, String meant, CapturedOutput output) {
		this.context.withPropertyValues(name + "=1").run((started) -> {
			assertThat(started).hasNotFailed();
			assertThat(output).containsOnlyOnce("is no property of the library")
				.contains("Is 'idempotency." + meant + "' meant?");
		});
	}

	@Test
	void nameLikeNoOtherIsToldAlone(CapturedOutput output) {
		this.context.withPropertyValues("idempotency.zzz=1")
			.run((started) -> assertThat(output)
				.contains("'idempotency.zzz' is no property of the library and does nothing.")
				.doesNotContain("meant?"));
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
				assertThat(output).doesNotContain("is no property of the library");
			});
	}

}
