package io.idempotency.test;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/**
 * Makes answers from the responses of Spring's clients and mocks. Needs
 * {@code spring-web} and {@code spring-test}, those of MockMvc {@code spring-webmvc}.
 *
 * @since 0.1.0
 */
public final class SpringResponses {

	private SpringResponses() {
	}

	/**
	 * Makes an answer from a response of MockMvc:
	 * {@code mvc.perform(request).andReturn().getResponse()}.
	 * @param response the response
	 * @return the answer
	 */
	public static GuardedResponse of(MockHttpServletResponse response) {
		Map<String, List<String>> headers = new HashMap<>();
		response.getHeaderNames().forEach((name) -> headers.put(name, response.getHeaders(name)));
		return new GuardedResponse(response.getStatus(), headers, response.getContentAsByteArray());
	}

	/**
	 * Makes an answer from a result of MockMvc: {@code mvc.perform(request).andReturn()}.
	 * @param result the result
	 * @return the answer
	 * @throws IllegalStateException if the handler still works for it
	 */
	public static GuardedResponse of(MvcResult result) {
		if (result.getRequest().isAsyncStarted()) {
			throw new IllegalStateException(
					"The response is not complete, because its handler is asynchronous. Take the result of "
							+ "mvc.perform(MockMvcRequestBuilders.asyncDispatch(result))");
		}
		return of(result.getResponse());
	}

	/**
	 * Makes an answer from a result of a {@code MockMvcTester}:
	 * {@code mvc.post().uri("/orders").exchange()}.
	 * @param result the result
	 * @return the answer
	 * @throws IllegalStateException if the handler has thrown an exception that nobody
	 * has handled
	 */
	public static GuardedResponse of(MvcTestResult result) {
		Exception unresolved = result.getUnresolvedException();
		if (unresolved != null) {
			throw new IllegalStateException("The handler threw an exception that was not handled", unresolved);
		}
		return of(result.getMvcResult());
	}

	/**
	 * Makes an answer from a response of a {@code TestRestTemplate} or
	 * {@code RestClient}.
	 * @param response the response, with its bytes
	 * @return the answer
	 */
	public static GuardedResponse of(ResponseEntity<byte[]> response) {
		Map<String, List<String>> headers = new HashMap<>();
		response.getHeaders().forEach(headers::put);
		byte[] body = response.getBody();
		return new GuardedResponse(response.getStatusCode().value(), headers, (body != null) ? body : new byte[0]);
	}

}
