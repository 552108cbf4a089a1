package io.idempotency.openapi;

import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;

import io.idempotency.AbandonedMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.StoreFailureMode;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.KeySource;
import io.idempotency.http.HttpSettings;

/** The problems that a guarded operation may return, described for clients. */
enum DocumentedProblem {

	KEY_MISSING(400, "the request has no key"),

	KEY_INVALID(400, "the key is malformed or was sent twice"),

	CALLER_UNKNOWN(401, "the request has no authenticated caller"),

	TOKEN_UNKNOWN(400, "the token was never issued, has expired or belongs to another caller"),

	IN_PROGRESS(409, "the first request with this key is in progress: retry after the time in Retry-After"),

	DUPLICATE(409, "a request with this key was already received"),

	RESULT_UNAVAILABLE(409, "the first request was processed, but its response is not stored: look up the result"),

	OUTCOME_UNKNOWN(409, "the first request did not complete, but may have had an effect: look up the outcome"),

	BODY_TOO_LARGE(413, "the body is too large to be compared"),

	KEY_REUSED(422, "the key was already used for a different request"),

	STORE_UNAVAILABLE(503, "the request cannot be processed now: retry it unchanged after the time in Retry-After");

	private final int status;

	private final String meaning;

	DocumentedProblem(int status, String meaning) {
		this.status = status;
		this.meaning = meaning;
	}

	/** Returns the problems of an operation, one rule each. */
	static Set<DocumentedProblem> of(IdempotentOperation operation, HttpSettings settings) {
		Set<DocumentedProblem> problems = EnumSet.noneOf(DocumentedProblem.class);
		for (DocumentedProblem problem : values()) {
			if (problem.mayAnswer(operation, settings)) {
				problems.add(problem);
			}
		}
		return problems;
	}

	private boolean mayAnswer(IdempotentOperation operation, HttpSettings settings) {
		IdempotencyMode mode = operation.options().mode();
		boolean replays = mode == IdempotencyMode.REPLAY;
		return switch (this) {
			case KEY_MISSING -> operation.key().required();
			case KEY_INVALID -> !(operation.key().source() instanceof KeySource.Spel);
			case CALLER_UNKNOWN -> settings.anonymousRejected() && operation.key().scope() == null;
			case TOKEN_UNKNOWN -> operation.key().token();
			case IN_PROGRESS -> mode != IdempotencyMode.REJECT;
			case DUPLICATE -> mode == IdempotencyMode.REJECT;
			case RESULT_UNAVAILABLE -> replays;
			case OUTCOME_UNKNOWN -> replays && operation.options().onAbandoned() == AbandonedMode.REJECT;
			case BODY_TOO_LARGE -> operation.key().source() instanceof KeySource.Body
					|| replays && operation.fingerprint() instanceof IdempotentOperation.FingerprintSource.Default;
			case KEY_REUSED -> operation.key().token()
					|| replays && !(operation.fingerprint() instanceof IdempotentOperation.FingerprintSource.None);
			case STORE_UNAVAILABLE -> operation.options().onStoreFailure() == StoreFailureMode.REJECT;
		};
	}

	int status() {
		return this.status;
	}

	boolean hasRetryAfter() {
		return this == IN_PROGRESS || this == STORE_UNAVAILABLE;
	}

	/** Returns the code that the response contains. */
	String code() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/** Returns one line of Markdown. */
	String describe() {
		return "`" + code() + "`: " + this.meaning + ".";
	}

}
