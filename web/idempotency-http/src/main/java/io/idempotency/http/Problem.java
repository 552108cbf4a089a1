package io.idempotency.http;

import io.idempotency.IdempotencyBodyTooLargeException;
import io.idempotency.IdempotencyCallerUnknownException;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyInvalidException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.Internal;
import io.idempotency.RetryAdvice;
import io.idempotency.interceptor.RefusalMembers;
import org.jspecify.annotations.Nullable;

/**
 * The answer to a refused call, for every stack: it loads no class of the servlet API and
 * none of WebFlux.
 *
 * @hidden
 */
@Internal
public final class Problem {

	public static final String MEDIA_TYPE = "application/problem+json";

	private Problem() {
	}

	/**
	 * Returns the document (RFC 9457).
	 * @param typeBase what the type begins with; the code follows
	 * @param detail the advice for the client
	 * @param instance the path that the client has asked for
	 */
	public static String document(IdempotencyException refusal, String typeBase, String detail, String instance) {
		FlatJson problem = new FlatJson().add("type", typeBase + refusal.code())
			.add("title", refusal.title())
			.add("status", refusal.status())
			.add("detail", detail)
			.add("instance", instance)
			.add("code", refusal.code())
			.add("retry", refusal.retry().value());
		if (refusal instanceof IdempotencyDuplicateException duplicate) {
			problem.add("attempts", duplicate.attempts());
		}
		return problem.toString();
	}

	/**
	 * Returns the value of {@code Retry-After}.
	 * @return the seconds, {@code null} if it makes no sense to come back
	 */
	public static @Nullable String retryAfter(IdempotencyException refusal) {
		Integer seconds = RefusalMembers.retryAfter(refusal);
		return (seconds != null) ? seconds.toString() : null;
	}

	/**
	 * Returns the advice for the client, in the words of the client. The messages of the
	 * exceptions name operations and properties, so they are for the application and its
	 * log.
	 * @param target method and path that the client has asked for
	 * @param place the place of the key, empty if it is not known
	 */
	public static String detail(IdempotencyException refusal, String target, String place) {
		if (refusal.isRemembered() && refusal.retry() == RetryAdvice.NEVER) {
			return target + " has failed, because a part of it was refused, and is not done again with this key: look "
					+ "up how far it came, and use a new key for another try";
		}
		if (refusal instanceof IdempotencyKeyMissingException) {
			return target + " needs a key" + place + ": send one, and send the same one when you repeat the request";
		}
		if (refusal instanceof IdempotencyKeyInvalidException || refusal instanceof IdempotencyBodyTooLargeException) {
			// These messages only describe the fault of the request.
			return target + ": " + refusal.getMessage();
		}
		if (refusal instanceof IdempotencyCallerUnknownException) {
			return target + " is for known callers: say who you are, and send the request with the same key";
		}
		if (refusal instanceof IdempotencyTokenUnknownException) {
			return "The token for " + target + " was never issued, has expired or belongs to another caller: "
					+ "get a new token and send the request with it";
		}
		if (refusal instanceof IdempotencyKeyReusedException) {
			return "The key was used for another request than this " + target
					+ ": repeat the first request unchanged, or use a new key for a new one";
		}
		if (refusal instanceof IdempotencyStoreUnavailableException unavailable) {
			return unavailable.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED
					? "It is not known whether " + target + " was done: repeat it unchanged, with the same key, later, "
							+ "and it gets the answer, or is done then"
					: target + " cannot be accepted at the moment: repeat it unchanged, with the same key, later";
		}
		return afterTheFirst(refusal, target);
	}

	private static String afterTheFirst(IdempotencyException refusal, String target) {
		if (refusal instanceof IdempotencyInProgressException) {
			return "The first " + target + " with this key still runs: wait as long as Retry-After says and "
					+ "repeat it unchanged, with the same key";
		}
		if (refusal instanceof IdempotencyDuplicateException) {
			return target + " was already received with this key, and its answer is not kept: do not send it "
					+ "again. For a new request, or if the first one has failed, use a new key";
		}
		if (refusal instanceof IdempotencyResultUnavailableException) {
			return "The first " + target + " with this key was processed and will not run again, but its "
					+ "answer was not kept: look the result up";
		}
		if (refusal instanceof IdempotencyOutcomeUnknownException) {
			return "The first " + target + " with this key did not end and may have had its effect: look the "
					+ "result up, or ask whoever runs this service";
		}
		throw new IllegalStateException("Unknown refusal " + refusal.code());
	}

}
