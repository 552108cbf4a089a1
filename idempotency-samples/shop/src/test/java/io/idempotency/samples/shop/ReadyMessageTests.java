package io.idempotency.samples.shop;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class ReadyMessageTests {

	@Test
	void lastLineOfTheStartSaysWhereTheShopIs(CapturedOutput output) {
		try (ConfigurableApplicationContext context = SpringApplication.run(ShopApplication.class, "--server.port=0")) {
			String port = context.getEnvironment().getProperty("local.server.port");
			assertThat(output.getOut().strip()).endsWith("Shop is ready on http://localhost:" + port + "/");
		}
	}

}
