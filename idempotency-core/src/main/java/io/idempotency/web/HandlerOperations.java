package io.idempotency.web;

import java.util.Set;
import java.util.function.Supplier;

import io.idempotency.IdempotencyMode;
import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.IdempotentOperation.FingerprintSource;
import io.idempotency.aop.KeySource;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;

/** Knows what the handler of a request needs of it, before it is called. Thread-safe. */
final class HandlerOperations {

	private static final Set<String> SAFE_METHODS = Set.of("GET", "HEAD", "OPTIONS", "TRACE");

	private final Supplier<OperationLookup> lookup;

	HandlerOperations(Supplier<OperationLookup> lookup) {
		this.lookup = lookup;
	}

	/** Whether it is known by now who handles the request. */
	static boolean isMapped(HttpServletRequest request) {
		return request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) != null;
	}

	/** A class's annotation never means a safe method; a method's own does. */
	static boolean isExempt(IdempotentOperation operation, HttpServletRequest request) {
		return !operation.declaredOnMethod() && SAFE_METHODS.contains(request.getMethod());
	}

	/**
	 * The operation of the request's handler.
	 * @param request the request
	 * @return the operation, {@code null} if the call will not be guarded
	 */
	@Nullable IdempotentOperation of(HttpServletRequest request) {
		Object handler = request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
		if (!(handler instanceof HandlerMethod method)) {
			return null;
		}
		IdempotentOperation operation = this.lookup.get().operation(method.getMethod(), method.getBeanType());
		return (operation != null && !isExempt(operation, request)) ? operation : null;
	}

	/** Whether the guard may ask for the body. */
	static boolean mayNeedBody(IdempotentOperation operation) {
		return needsBody(operation) || operation.keySource() instanceof KeySource.Spel
				|| operation.fingerprint() instanceof FingerprintSource.Spel || operation.scope() != null
				|| operation.condition() != null;
	}

	/**
	 * Whether the call is guarded and its guard asks for the body, as far as can be told
	 * before.
	 */
	static boolean willNeedBody(IdempotentOperation operation, HttpServletRequest request) {
		return needsBody(operation) && operation.condition() == null
				&& (operation.required() || hasKeyHeader(operation, request));
	}

	private static boolean needsBody(IdempotentOperation operation) {
		boolean compared = operation.policy().mode() == IdempotencyMode.REPLAY
				&& operation.fingerprint() instanceof FingerprintSource.Default;
		return compared || operation.keySource() instanceof KeySource.Body;
	}

	private static boolean hasKeyHeader(IdempotentOperation operation, HttpServletRequest request) {
		return operation.keySource() instanceof KeySource.Header header && request.getHeader(header.name()) != null;
	}

}
