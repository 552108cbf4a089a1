package io.idempotency.web;

import io.idempotency.IdempotencyBodyTooLargeException;
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
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.IdempotentOperationSource;
import io.idempotency.aop.KeySource;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.web.method.HandlerMethod;

/**
 * Tells a refused client what it can do, in the words of the client: method, path and
 * header. The messages of the exceptions name operations and properties, so they are for
 * the application and its log. Thread-safe.
 */
final class ProblemDetails {

	private final ApplicationContext context;

	ProblemDetails(ApplicationContext context) {
		this.context = context;
	}

	/**
	 * Returns the advice for the client.
	 * @param refusal the refusal
	 * @param request the request of the client
	 * @param handler the handler of the request
	 */
	String of(IdempotencyException refusal, HttpServletRequest request, @Nullable Object handler) {
		String target = request.getMethod() + " " + ClientPath.of(request);
		if (refusal instanceof IdempotencyKeyMissingException) {
			return target + " needs a key" + place(refusal, handler)
					+ ": send one, and send the same one when you repeat the request";
		}
		if (refusal instanceof IdempotencyKeyInvalidException || refusal instanceof IdempotencyBodyTooLargeException) {
			// These messages only describe the fault of the request.
			return target + ": " + refusal.getMessage();
		}
		if (refusal instanceof IdempotencyTokenUnknownException) {
			return "The token for " + target + " was never issued, has expired or belongs to another caller: "
					+ "get a new token and send the request with it";
		}
		if (refusal instanceof IdempotencyKeyReusedException) {
			return "The key was used for another request than this " + target
					+ ": repeat the first request unchanged, or use a new key for a new one";
		}
		if (refusal instanceof IdempotencyStoreUnavailableException) {
			return target + " cannot be accepted at the moment: repeat it unchanged, with the same key, later";
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

	/**
	 * Returns the place of the key, empty if a nested call is without a key, because no
	 * client can send the key of a nested call.
	 */
	private String place(IdempotencyException refusal, @Nullable Object handler) {
		IdempotentOperationSource source = this.context.getBeanProvider(IdempotentOperationSource.class)
			.getIfAvailable();
		IdempotentOperation operation = (source != null && handler instanceof HandlerMethod method)
				? source.operation(method.getMethod(), method.getBeanType()) : null;
		return (operation != null && operation.name().equals(refusal.operation())) ? place(operation.keySource()) : "";
	}

	private static String place(KeySource source) {
		if (source instanceof KeySource.Header header) {
			return " in the header '" + header.name() + "'";
		}
		return (source instanceof KeySource.Body body) ? " at '" + body.pointer() + "' of its body" : "";
	}

}
