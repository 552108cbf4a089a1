package io.idempotency.it;

import io.idempotency.Idempotent;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.security.test.context.support.WithMockUser;
import org.springframework.test.context.ContextConfiguration;
import org.springframework.test.context.TestPropertySource;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.security.test.web.servlet.request.SecurityMockMvcRequestPostProcessors.csrf;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.post;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.content;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.header;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.jsonPath;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

/**
 * A slice issues tokens where the application does, and its security applies to them.
 */
@InMvcSlice
@TestPropertySource(properties = "idempotency.token.enabled=true")
@ContextConfiguration(classes = TokenSliceTests.Application.class)
class TokenSliceTests {

	@Test
	@WithMockUser
	void sliceIssuesTokensAndTakesThem(@Autowired MockMvc mvc) throws Exception {
		String body = mvc.perform(post("/idempotency/tokens").with(csrf()))
			.andExpect(status().isCreated())
			.andExpect(header().string("Cache-Control", "no-store"))
			.andExpect(jsonPath("$.token").isString())
			.andExpect(jsonPath("$.expiresAt").isString())
			.andReturn()
			.getResponse()
			.getContentAsString();
		String token = body.replaceFirst("\\{\"token\":\"([^\"]+)\".*", "$1");
		for (int i = 0; i < 2; i++) {
			mvc.perform(post("/forms").with(csrf()).header("Idempotency-Key", token))
				.andExpect(status().isOk())
				.andExpect(content().string("sent 1"));
		}
	}

	@Test
	void securityOfTheApplicationAppliesToTheEndpoint(@Autowired MockMvc mvc) throws Exception {
		int status = mvc.perform(post("/idempotency/tokens").with(csrf())).andReturn().getResponse().getStatus();
		assertThat(status).isEqualTo(401);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(FormController.class)
	static class Application {

	}

	@RestController
	static class FormController {

		private int sent;

		@PostMapping("/forms")
		@Idempotent(token = true)
		String send() {
			this.sent++;
			return "sent " + this.sent;
		}

	}

}
