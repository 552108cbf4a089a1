package io.idempotency.it;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * That these tests run on the line they were asked to run on, and that an application
 * with the starter starts there.
 */
@SpringBootTest
@WithMockMvc
class BootLineTests {

	@Test
	void springBootIsTheVersionTheBuildAskedFor() {
		assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("expected.spring-boot.version"));
	}

	@Test
	@WithMockUser
	void applicationWithTheStarterAnswers(@Autowired MockMvc mvc) throws Exception {
		mvc.perform(get("/line")).andExpect(status().isOk()).andExpect(content().string("ok"));
	}

	@Test
	void applicationIsSecured(@Autowired MockMvc mvc) throws Exception {
		mvc.perform(get("/line")).andExpect(status().isUnauthorized());
	}

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@RestController
	static class Application {

		@GetMapping("/line")
		String line() {
			return "ok";
		}

	}

}
