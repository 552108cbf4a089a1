package io.idempotency.web;

import java.io.IOException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** Redirects on containers before and since Servlet 6.1. */
class RedirectsTests {

	private static final Method SINCE_6_1 = ClassUtils.getMethod(NewResponse.class, "sendRedirect", String.class,
			int.class, boolean.class);

	private final NewResponse response = new NewResponse();

	@Test
	void usualRedirectIsThatOfTheContainer() throws IOException {
		Redirects.send(null, this.response, "/there", 302, true);
		Redirects.send(SINCE_6_1, this.response, "/there", 302, true);
		Redirects.send(this.response, "/there", 302, true);
		assertThat(this.response.sent).containsExactly("/there", "/there", "/there");
	}

	@ParameterizedTest
	@CsvSource({ "303, true", "302, false", "307, false" })
	void otherRedirectIsThatOfTheContainerSinceServlet61(int status, boolean clearBuffer) throws IOException {
		Redirects.send(SINCE_6_1, this.response, "/there", status, clearBuffer);
		assertThat(this.response.sent).containsExactly("/there " + status + " " + clearBuffer);
	}

	/**
	 * The usual redirect of the container would drop the body and send another status.
	 */
	@ParameterizedTest
	@CsvSource({ "303, true", "302, false", "307, false" })
	void otherRedirectIsStatusAndLocationBeforeServlet61(int status, boolean clearBuffer) throws IOException {
		this.response.getWriter().print("moved");
		Redirects.send(null, this.response, "/there", status, clearBuffer);
		assertThat(this.response.sent).isEmpty();
		assertThat(this.response.getStatus()).isEqualTo(status);
		assertThat(this.response.getHeader("Location")).isEqualTo("/there");
		assertThat(this.response.getContentAsString()).isEqualTo("moved");
	}

	@Test
	void failureOfTheContainerArrivesAsItIs() {
		this.response.failure = new IOException("client has gone");
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> Redirects.send(SINCE_6_1, this.response, "/there", 303, true))
			.isSameAs(this.response.failure);
		this.response.failure = new IllegalStateException("committed");
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> Redirects.send(SINCE_6_1, this.response, "/there", 303, true))
			.isSameAs(this.response.failure);
	}

	/** A response of Servlet 6.1; the method is new there. */
	public static class NewResponse extends MockHttpServletResponse {

		private final List<String> sent = new ArrayList<>();

		private @Nullable Exception failure;

		@Override
		public void sendRedirect(String location) {
			this.sent.add(location);
		}

		public void sendRedirect(String location, int status, boolean clearBuffer) throws IOException {
			if (this.failure instanceof IOException ex) {
				throw ex;
			}
			if (this.failure instanceof RuntimeException ex) {
				throw ex;
			}
			this.sent.add(location + " " + status + " " + clearBuffer);
		}

	}

}
