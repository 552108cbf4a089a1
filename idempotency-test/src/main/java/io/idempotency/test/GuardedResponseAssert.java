package io.idempotency.test;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * Assertions for the response to a guarded request; see {@link IdempotencyAssertions}.
 *
 * @since 0.1.0
 */
public final class GuardedResponseAssert extends AbstractAssert<GuardedResponseAssert, GuardedResponse> {

	/**
	 * The headers that a replay need not repeat, because they are specific to a client, a
	 * connection or a time, or are for caches.
	 */
	static final Set<String> NOT_REPEATED = Set.of("set-cookie", "set-cookie2", "authorization", "www-authenticate",
			"proxy-authenticate", "proxy-authorization", "authentication-info", "proxy-authentication-info", "date",
			"connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
			"content-length", "cache-control", "expires", "pragma", "idempotent-replayed");

	private static final Pattern CODE = Pattern.compile("\"code\"\\s*:\\s*\"([^\"]*)\"");

	GuardedResponseAssert(@Nullable GuardedResponse actual) {
		super(actual, GuardedResponseAssert.class);
	}

	/**
	 * Asserts that the response is not a replay: the handler ran for this request, or the
	 * request was rejected.
	 * @return this
	 */
	public GuardedResponseAssert isNoReplay() {
		isNotNull();
		if (this.actual.isReplay()) {
			failWithMessage("Expecting a response of the handler, not a replay, but got:%n  %s", this.actual);
		}
		return this;
	}

	/**
	 * Asserts that the response is a replay of another response: it is marked as a
	 * replay, and has the status, the body and the headers of the first response. Headers
	 * that are specific to a client, a connection or a time (such as {@code Set-Cookie}
	 * and {@code Date}) and headers for caches may differ.
	 * @param first the first response
	 * @return this
	 */
	public GuardedResponseAssert isReplayOf(GuardedResponse first) {
		isNotNull();
		if (!this.actual.isReplay()) {
			failWithMessage("Expecting a replay, but '%s: true' is missing in:%n  %s", GuardedResponse.REPLAYED,
					this.actual);
		}
		if (this.actual.status() != first.status()) {
			failWithActualExpectedAndMessage(this.actual.status(), first.status(),
					"Expecting the status of the first response, %s, but got %s", first.status(), this.actual.status());
		}
		first.repeatable().forEach((name, values) -> {
			List<String> repeated = this.actual.headers().getOrDefault(name, List.of());
			if (!repeated.equals(values)) {
				failWithActualExpectedAndMessage(repeated, values,
						"Expecting the header '%s' of the first response, %s, but got %s", name, values, repeated);
			}
		});
		if (!Arrays.equals(this.actual.body(), first.body())) {
			failWithActualExpectedAndMessage(text(this.actual), text(first),
					"Expecting the %s bytes of the first response, but got %s bytes that differ", first.body().length,
					this.actual.body().length);
		}
		return this;
	}

	/**
	 * Asserts that the guard rejected the request.
	 * @param code the problem code, such as {@code in-progress}
	 * @return this
	 */
	public GuardedResponseAssert hasProblem(String code) {
		isNotNull();
		Matcher matcher = CODE.matcher(text(this.actual));
		String found = matcher.find() ? matcher.group(1) : null;
		if (this.actual.status() < 400 || !code.equals(found)) {
			failWithActualExpectedAndMessage(String.valueOf(found), code,
					"Expecting a problem with the code '%s', but got %s:%n  %s", code,
					(found != null) ? "'" + found + "'" : "none", this.actual);
		}
		return this;
	}

	/**
	 * Asserts the status of the response.
	 * @param status the status
	 * @return this
	 */
	public GuardedResponseAssert hasStatus(int status) {
		isNotNull();
		if (this.actual.status() != status) {
			failWithActualExpectedAndMessage(this.actual.status(), status, "Expecting the status %s, but got:%n  %s",
					status, this.actual);
		}
		return this;
	}

	private static String text(GuardedResponse answer) {
		return new String(answer.body(), StandardCharsets.UTF_8);
	}

}
