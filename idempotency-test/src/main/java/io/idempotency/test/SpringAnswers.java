package io.idempotency.test;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletResponse;

/**
 * Makes answers from the responses of Spring's clients and mocks. Needs
 * {@code spring-web} and {@code spring-test}.
 *
 * @since 0.1.0
 */
public final class SpringAnswers {

	private SpringAnswers() {
	}

	/**
	 * Makes an answer from a response of MockMvc:
	 * {@code mvc.perform(request).andReturn().getResponse()}.
	 * @param response the response
	 * @return the answer
	 */
	public static GuardedAnswer of(MockHttpServletResponse response) {
		Map<String, List<String>> headers = new HashMap<>();
		response.getHeaderNames().forEach((name) -> headers.put(name, response.getHeaders(name)));
		return new GuardedAnswer(response.getStatus(), headers, response.getContentAsByteArray());
	}

	/**
	 * Makes an answer from a response of a {@code TestRestTemplate} or
	 * {@code RestClient}.
	 * @param response the response, with its bytes
	 * @return the answer
	 */
	public static GuardedAnswer of(ResponseEntity<byte[]> response) {
		Map<String, List<String>> headers = new HashMap<>();
		response.getHeaders().forEach(headers::put);
		byte[] body = response.getBody();
		return new GuardedAnswer(response.getStatusCode().value(), headers, (body != null) ? body : new byte[0]);
	}

}
