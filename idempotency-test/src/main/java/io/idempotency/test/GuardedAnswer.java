package io.idempotency.test;

import java.net.http.HttpResponse;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * The answer to one guarded request, of whatever client or mock; {@link SpringAnswers}
 * makes one of Spring's. Immutable.
 *
 * @param status the HTTP status
 * @param headers the values of each header; names are found in upper and lower case
 * @param body the bytes, none if there is no body
 * @since 0.1.0
 */
public record GuardedAnswer(int status, Map<String, List<String>> headers, byte[] body) {

	/** What tells that an answer is a replay. */
	static final String REPLAYED = "Idempotent-Replayed";

	/**
	 * Copies the headers.
	 */
	public GuardedAnswer {
		Map<String, List<String>> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		headers.forEach((name, values) -> copy.put(name, List.copyOf(values)));
		headers = copy;
	}

	/**
	 * The answer that a client of the JDK got.
	 * @param response the response
	 * @return the answer
	 */
	public static GuardedAnswer of(HttpResponse<byte[]> response) {
		return new GuardedAnswer(response.statusCode(), response.headers().map(), response.body());
	}

	/**
	 * Whether the answer says that it is a replay.
	 * @return whether it has {@code Idempotent-Replayed: true}
	 */
	public boolean isReplay() {
		return this.headers.getOrDefault(REPLAYED, List.of()).contains("true");
	}

	/** What a replay must repeat, if the first answer had it. */
	Map<String, List<String>> repeatable() {
		Map<String, List<String>> repeatable = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
		this.headers.forEach((name, values) -> {
			if (!GuardedAnswerAssert.NOT_REPEATED.contains(name.toLowerCase(Locale.ROOT))) {
				repeatable.put(name, values);
			}
		});
		return repeatable;
	}

	@Override
	public boolean equals(Object other) {
		return other instanceof GuardedAnswer that && this.status == that.status && this.headers.equals(that.headers)
				&& Arrays.equals(this.body, that.body);
	}

	@Override
	public int hashCode() {
		return 31 * this.headers.hashCode() + Arrays.hashCode(this.body);
	}

	/** Status and headers; a body may be somebody's secret. */
	@Override
	public String toString() {
		return this.status + " " + this.headers + " (" + this.body.length + " bytes)";
	}

}
