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
 * What can be asserted of the answer to a guarded request; see
 * {@link IdempotencyAssertions}.
 *
 * @since 0.1.0
 */
public final class GuardedAnswerAssert extends AbstractAssert<GuardedAnswerAssert, GuardedAnswer> {

	/** Of one client, one connection or one moment. */
	static final Set<String> NOT_REPEATED = Set.of("set-cookie", "set-cookie2", "authorization", "www-authenticate",
			"proxy-authenticate", "proxy-authorization", "authentication-info", "proxy-authentication-info", "date",
			"connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
			"content-length", "cache-control", "expires", "pragma", "idempotent-replayed");

	private static final Pattern CODE = Pattern.compile("\"code\"\\s*:\\s*\"([^\"]*)\"");

	GuardedAnswerAssert(@Nullable GuardedAnswer actual) {
		super(actual, GuardedAnswerAssert.class);
	}

	/**
	 * The handler ran for this request, or refused it: it is no replay.
	 * @return this
	 */
	public GuardedAnswerAssert isNoReplay() {
		isNotNull();
		if (this.actual.isReplay()) {
			failWithMessage("Expecting an answer of the handler, not a replay, but got:%n  %s", this.actual);
		}
		return this;
	}

	/**
	 * The answer repeats another: it says so, and has its status, its bytes and each of
	 * its headers, except those that belong to one client, one connection or one moment
	 * (such as {@code Set-Cookie} and {@code Date}), and those that tell caches what to
	 * do.
	 * @param first the answer that was given first
	 * @return this
	 */
	public GuardedAnswerAssert isReplayOf(GuardedAnswer first) {
		isNotNull();
		if (!this.actual.isReplay()) {
			failWithMessage("Expecting a replay, but '%s: true' is missing in:%n  %s", GuardedAnswer.REPLAYED,
					this.actual);
		}
		if (this.actual.status() != first.status()) {
			failWithActualExpectedAndMessage(this.actual.status(), first.status(),
					"Expecting the status of the first answer, %s, but got %s", first.status(), this.actual.status());
		}
		first.repeatable().forEach((name, values) -> {
			List<String> repeated = this.actual.headers().getOrDefault(name, List.of());
			if (!repeated.equals(values)) {
				failWithActualExpectedAndMessage(repeated, values,
						"Expecting the header '%s' of the first answer, %s, but got %s", name, values, repeated);
			}
		});
		if (!Arrays.equals(this.actual.body(), first.body())) {
			failWithActualExpectedAndMessage(text(this.actual), text(first),
					"Expecting the %s bytes of the first answer, but got %s bytes that differ", first.body().length,
					this.actual.body().length);
		}
		return this;
	}

	/**
	 * The guard has refused the request.
	 * @param code the code of the problem, such as {@code in-progress}
	 * @return this
	 */
	public GuardedAnswerAssert hasProblem(String code) {
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
	 * The answer has a status.
	 * @param status the status
	 * @return this
	 */
	public GuardedAnswerAssert hasStatus(int status) {
		isNotNull();
		if (this.actual.status() != status) {
			failWithActualExpectedAndMessage(this.actual.status(), status, "Expecting the status %s, but got:%n  %s",
					status, this.actual);
		}
		return this;
	}

	private static String text(GuardedAnswer answer) {
		return new String(answer.body(), StandardCharsets.UTF_8);
	}

}
