package io.idempotency.test;

import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The response to a guarded request, from any client or mock. {@link SpringResponses}
 * creates it from the responses of Spring's clients and mocks.
 *
 * @param status the HTTP status
 * @param headers the values of each header; names are case-insensitive
 * @param body the bytes of the body, empty without a body; not copied
 * @since 0.1.0
 */
public record GuardedResponse(int status, Map<String, List<String>> headers, byte[] body) {

	/** The header that marks a replay. */
	static final String REPLAYED = "Idempotent-Replayed";

	/**
	 * Copies the headers.
	 */
	public GuardedResponse {
		Map<String, List<String>> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		headers.forEach((name, values) -> copy.put(name, List.copyOf(values)));
		headers = copy;
	}

	/**
	 * Creates a guarded response from a response of the JDK's HTTP client.
	 * @param response the response
	 * @return the guarded response
	 */
	public static GuardedResponse of(HttpResponse<byte[]> response) {
		return new GuardedResponse(response.statusCode(), response.headers().map(), response.body());
	}

	/**
	 * Returns whether the response is marked as a replay.
	 * @return whether the response has the header {@code Idempotent-Replayed: true}
	 */
	public boolean isReplay() {
		return this.headers.getOrDefault(REPLAYED, List.of()).contains("true");
	}

	/** Returns the headers of this response that a replay must repeat. */
	Map<String, List<String>> repeatable() {
		Map<String, List<String>> repeatable = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		this.headers.forEach((name, values) -> {
			if (!GuardedResponseAssert.NOT_REPEATED.contains(name.toLowerCase(Locale.ROOT))) {
				repeatable.put(name, values);
			}
		});
		return repeatable;
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof GuardedResponse that && this.status == that.status && this.headers.equals(that.headers)
				&& Arrays.equals(this.body, that.body);
	}

	@Override
	public int hashCode() {
		return 31 * this.headers.hashCode() + Arrays.hashCode(this.body);
	}

	/** Returns status and headers without the body, which may be secret. */
	@Override
	public String toString() {
		return this.status + " " + this.headers + " (" + this.body.length + " bytes)";
	}

}
