package io.idempotency.ai;

import io.idempotency.ai.IdempotencyAiAutoConfiguration.AiProperties;
import io.idempotency.ai.IdempotencyAiAutoConfiguration.ToolErrorPostProcessor;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class IdempotencyAiAutoConfigurationTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(IdempotencyAutoConfiguration.class, IdempotencyAiAutoConfiguration.class));

	@Test
	void readsKeysFromTheDocumentedPropertyOfMeta() {
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(ToolAdapter.class);
			assertThat(context.getBean(AiProperties.class).metaKey())
				.isEqualTo("io.modelcontextprotocol/idempotencyKey");
		});
	}

	@Test
	void knowsItsPropertyAndReportsOneThatIsMisspelled(CapturedOutput output) {
		this.runner.withPropertyValues("idempotency.ai.meta-key=com.example/attempt")
			.run((context) -> assertThat(output).doesNotContain("Unknown property"));
		this.runner.withPropertyValues("idempotency.ai.meta-keys=com.example/attempt")
			.run((context) -> assertThat(output).containsOnlyOnce("idempotency.ai.meta-keys"));
	}

	@Test
	void rejectsBlankMetaKey() {
		this.runner.withPropertyValues("idempotency.ai.meta-key= ")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(InvalidConfigurationPropertyValueException.class)
				.hasMessageContaining("idempotency.ai.meta-key"));
	}

	@Test
	void backsOffWithoutTheGuardAndWithoutTools() {
		this.runner.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(IdempotencyAiAutoConfiguration.class));
		this.runner.withClassLoader(new FilteredClassLoader("io.modelcontextprotocol", "org.springframework.ai"))
			.run((context) -> assertThat(context).hasNotFailed()
				.doesNotHaveBean(ToolAdapter.class)
				.doesNotHaveBean(ToolErrorPostProcessor.class));
	}

}
