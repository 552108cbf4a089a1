package io.idempotency.web;

/**
 * The door was entered and the filter has not seen the request: nothing may run
 * unprotected.
 */
final class MissingFilter {

	private MissingFilter() {
	}

	static IllegalStateException exception(String aim) {
		return new IllegalStateException("Cannot " + aim + ": the request did not pass the IdempotencyFilter. "
				+ "Register it as a filter for the dispatcher types REQUEST, ASYNC, ERROR and FORWARD; in a test with "
				+ "MockMvc use @AutoConfigureMockMvc or addFilters(...)");
	}

}
