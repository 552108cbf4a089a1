package io.idempotency.it.http;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/** A wrong value is told before a server starts, whose own lines would hide it. */
@ExtendWith(OutputCaptureExtension.class)
class WrongPropertyOnTomcatTests {

	@ParameterizedTest
	@ValueSource(strings = { "idempotency.lease=0s", "idempotency.conflict=perhaps" })
	void isToldBeforeAnyLineOfTheServer(String property, CapturedOutput output) {
		SpringApplicationBuilder application = new SpringApplicationBuilder(HttpApplication.class)
			.properties("server.port=0", property);
		assertThatException().isThrownBy(application::run);
		assertThat(output).contains("APPLICATION FAILED TO START")
			.contains(property.substring(0, property.indexOf('=')))
			.doesNotContain("Tomcat");
	}

}
