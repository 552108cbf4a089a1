package io.idempotency.web;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;

import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.http.HttpSettings;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import org.junit.jupiter.api.Test;

import org.springframework.context.support.StaticApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.servlet.ModelAndView;

import static org.assertj.core.api.Assertions.assertThat;

/** A rejection when the client has had an answer already. */
class CommittedAnswerTests {

	private final MockHttpServletResponse response = new MockHttpServletResponse();

	@Test
	void errorThatTheContainerHasAnsweredStandsAndIsNoFailureOfTheServer() throws IOException {
		// So Tomcat does when a parameter or a part is asked for and the body is broken.
		this.response.sendError(400);
		assertThat(reject()).isNotNull();
		assertThat(this.response.getStatus()).isEqualTo(400);
		assertThat(this.response.getContentAsByteArray()).isEmpty();
	}

	@Test
	void halfAnAnswerIsNotEndedAsIfItWereWhole() throws IOException {
		this.response.getOutputStream().write('x');
		this.response.flushBuffer();
		assertThat(reject()).isNull();
	}

	@Test
	void halfAnAnswerThatNobodyHasSeenIsReplacedByTheProblem() throws IOException {
		this.response.getOutputStream().write('x');
		assertThat(reject()).isNotNull();
		assertThat(this.response.getStatus()).isEqualTo(400);
		assertThat(this.response.getContentAsString()).startsWith("{").endsWith("}");
	}

	/** As containers do, which the mock does not. */
	@Test
	void problemIsWrittenByTheWriterThatTheHandlerHasTaken() throws IOException {
		StringWriter written = new StringWriter();
		HttpServletResponse taken = new HttpServletResponseWrapper(this.response) {

			@Override
			public ServletOutputStream getOutputStream() {
				throw new IllegalStateException("getWriter() has already been called for this response");
			}

			@Override
			public PrintWriter getWriter() {
				return new PrintWriter(written);
			}

		};
		assertThat(reject(taken, "The key of 'für' is empty")).isNotNull();
		assertThat(this.response.getStatus()).isEqualTo(400);
		assertThat(written.toString()).startsWith("{").endsWith("}").contains("key-invalid").isASCII();
	}

	private ModelAndView reject() {
		return reject(this.response, "The key header is empty");
	}

	private static ModelAndView reject(HttpServletResponse response, String detail) {
		return new IdempotencyProblemResolver(new StaticApplicationContext(), HttpSettings.DEFAULTS).resolveException(
				new MockHttpServletRequest("POST", "/orders"), response, null,
				new IdempotencyKeyInvalidException("orders", detail));
	}

}
