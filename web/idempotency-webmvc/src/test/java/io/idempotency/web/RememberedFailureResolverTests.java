package io.idempotency.web;

import io.idempotency.RememberedFailureException;
import org.junit.jupiter.api.Test;

import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MockMvc;
import org.springframework.test.web.servlet.setup.MockMvcBuilders;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.test.web.servlet.request.MockMvcRequestBuilders.get;
import static org.springframework.test.web.servlet.result.MockMvcResultMatchers.status;

class RememberedFailureResolverTests {

	private final RememberedFailureResolver resolver = new RememberedFailureResolver();

	@Test
	void theFirstOnesStatusIsAnswered() throws Exception {
		MockMvc mvc = MockMvcBuilders.standaloneSetup(new Failing())
			.setHandlerExceptionResolvers(this.resolver)
			.build();
		mvc.perform(get("/declined")).andExpect(status().isPaymentRequired());
	}

	@Test
	void aFailureWithoutAStatusIsNotOurs() {
		MockHttpServletResponse response = new MockHttpServletResponse();
		assertThat(this.resolver.resolveException(new MockHttpServletRequest(), response, null,
				new RememberedFailureException("a.B", "no")))
			.isNull();
		assertThat(this.resolver.resolveException(new MockHttpServletRequest(), response, null,
				new IllegalStateException()))
			.isNull();
		assertThat(response.getStatus()).isEqualTo(200);
	}

	@Test
	void anAnswerThatHasBegunIsLeftAlone() {
		MockHttpServletResponse response = new MockHttpServletResponse();
		response.setCommitted(true);
		assertThat(this.resolver.resolveException(new MockHttpServletRequest(), response, null,
				new RememberedFailureException("a.B", "no", 402)))
			.isNull();
	}

	@RestController
	static class Failing {

		@GetMapping("/declined")
		String declined() {
			throw new RememberedFailureException("a.Declined", "no", 402);
		}

	}

}
