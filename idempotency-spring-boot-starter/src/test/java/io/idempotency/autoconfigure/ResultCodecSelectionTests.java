package io.idempotency.autoconfigure;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.idempotency.codec.json.Jackson2ResultCodec;
import io.idempotency.codec.json.Jackson3ResultCodec;
import io.idempotency.codec.ResultCodec;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

class ResultCodecSelectionTests {

	private static final String JACKSON_2 = "com.fasterxml.jackson.databind";

	private static final String JACKSON_3 = "tools.jackson";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class));

	@Test
	void theApplicationsMapperDecidesWhereBothAreThere() {
		this.runner.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class))
			.run((context) -> assertThat(context).getBean(ResultCodec.class).isInstanceOf(Jackson2ResultCodec.class));
		this.runner.withBean(JsonMapper.class, () -> JsonMapper.builder().build())
			.run((context) -> assertThat(context).getBean(ResultCodec.class).isInstanceOf(Jackson3ResultCodec.class));
	}

	@Test
	void withMappersOfBothItIsJackson3() {
		this.runner.withBean(ObjectMapper.class)
			.withBean(JsonMapper.class, () -> JsonMapper.builder().build())
			.run((context) -> assertThat(context).getBean(ResultCodec.class).isInstanceOf(Jackson3ResultCodec.class));
	}

	@Test
	void withoutAMapperItIsJackson3WhereItIsThere() {
		this.runner
			.run((context) -> assertThat(context).getBean(ResultCodec.class).isInstanceOf(Jackson3ResultCodec.class));
		this.runner.withClassLoader(new FilteredClassLoader(JACKSON_2))
			.run((context) -> assertThat(context).getBean(ResultCodec.class).isInstanceOf(Jackson3ResultCodec.class));
	}

	@Test
	void withoutJackson3ItIsJackson2() {
		this.runner.withClassLoader(new FilteredClassLoader(JACKSON_3))
			.run((context) -> assertThat(context).getBean(ResultCodec.class).isInstanceOf(Jackson2ResultCodec.class));
	}

	@Test
	void severalMappersAreNoReasonToFail() {
		this.runner.withClassLoader(new FilteredClassLoader(JACKSON_3))
			.withBean("one", ObjectMapper.class)
			.withBean("two", ObjectMapper.class)
			.run((context) -> assertThat(context).getBean(ResultCodec.class).isInstanceOf(Jackson2ResultCodec.class));
	}

	@Test
	void withoutAnyJacksonResultsOfMethodsAreRejectedAtStartUp() {
		this.runner.withClassLoader(new FilteredClassLoader(JACKSON_2, JACKSON_3))
			.withBean(Payments.class)
			.run((context) -> assertThat(context).getFailure()
				.hasMessageContaining("Payments")
				.hasMessageContaining("add Jackson"));
	}

}
