package io.idempotency.test;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.test.web.servlet.MvcResult;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

/**
 * Creates {@link GuardedResponse}s from the responses of Spring's clients and mocks.
 * Requires {@code spring-web} and {@code spring-test}, and {@code spring-webmvc} for
 * MockMvc.
 *
 * @since 0.1.0
 */
public final class SpringResponses {

	private SpringResponses() {
	}

	/**
	 * Creates a guarded response from a MockMvc response:
	 * {@code mvc.perform(request).andReturn().getResponse()}.
	 * @param response the response
	 * @return the guarded response
	 */
	public static GuardedResponse of(MockHttpServletResponse response) {
		Map<String, List<String>> headers = new HashMap<>();
		response.getHeaderNames().forEach((name) -> headers.put(name, response.getHeaders(name)));
		return new GuardedResponse(response.getStatus(), headers, response.getContentAsByteArray());
	}

	/**
	 * Creates a guarded response from a MockMvc result:
	 * {@code mvc.perform(request).andReturn()}.
	 * @param result the result
	 * @return the guarded response
	 * @throws IllegalStateException if the asynchronous handler is still in progress
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
	 * Creates a guarded response from a {@code MockMvcTester} result:
	 * {@code mvc.post().uri("/orders").exchange()}.
	 * @param result the result
	 * @return the guarded response
	 * @throws IllegalStateException if the handler threw an exception that was not
	 * handled
	 */
	public static GuardedResponse of(MvcTestResult result) {
		Exception unresolved = result.getUnresolvedException();
		if (unresolved != null) {
			throw new IllegalStateException("The handler threw an exception that was not handled", unresolved);
		}
		return of(result.getMvcResult());
	}

	/**
	 * Creates a guarded response from a response of a {@code TestRestTemplate} or
	 * {@code RestClient}.
	 * @param response the response with its body as bytes
	 * @return the guarded response
	 */
	public static GuardedResponse of(ResponseEntity<byte[]> response) {
		Map<String, List<String>> headers = new HashMap<>();
		response.getHeaders().forEach(headers::put);
		byte[] body = response.getBody();
		return new GuardedResponse(response.getStatusCode().value(), headers, (body != null) ? body : new byte[0]);
	}

}
