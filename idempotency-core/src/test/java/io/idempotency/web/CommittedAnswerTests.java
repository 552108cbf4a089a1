package io.idempotency.web;

import java.io.IOException;

import io.idempotency.IdempotencyKeyInvalidException;
import org.junit.jupiter.api.Test;

import org.springframework.context.support.StaticApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.servlet.ModelAndView;

import static org.assertj.core.api.Assertions.assertThat;

/** A refusal when the client has had an answer already. */
class CommittedAnswerTests {

	private final MockHttpServletResponse response = new MockHttpServletResponse();

	@Test
	void errorThatTheContainerHasAnsweredStandsAndIsNoFailureOfTheServer() throws IOException {
		// So Tomcat does when a parameter or a part is asked for and the body is broken.
		this.response.sendError(400);
		assertThat(refuse()).isNotNull();
		assertThat(this.response.getStatus()).isEqualTo(400);
		assertThat(this.response.getContentAsByteArray()).isEmpty();
	}

	@Test
	void halfAnAnswerIsNotEndedAsIfItWereWhole() throws IOException {
		this.response.getOutputStream().write('x');
		this.response.flushBuffer();
		assertThat(refuse()).isNull();
	}

	private ModelAndView refuse() {
		return new IdempotencyProblemResolver(new StaticApplicationContext()).resolveException(
				new MockHttpServletRequest("POST", "/orders"), this.response, null,
				new IdempotencyKeyInvalidException("orders", "The header with the key is empty"));
	}

}
