package io.idempotency.web;

import java.util.function.Supplier;

import io.idempotency.aop.IdempotentOperation;
import io.idempotency.aop.IdempotentOperationSource;
import io.idempotency.http.HandlerRules;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;

/** Knows the operation of the handler of a request. Thread-safe. */
final class HandlerOperationFinder {

	private final Supplier<IdempotentOperationSource> lookup;

	HandlerOperationFinder(Supplier<IdempotentOperationSource> lookup) {
		this.lookup = lookup;
	}

	/** Returns whether the handler of the request is already known. */
	static boolean isMapped(HttpServletRequest request) {
		return request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) != null;
	}

	/**
	 * Returns the operation of the request's handler.
	 * @return the operation, {@code null} if the call will not be guarded
	 */
	@Nullable IdempotentOperation of(HttpServletRequest request) {
		Object handler = request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
		if (!(handler instanceof HandlerMethod method)) {
			return null;
		}
		IdempotentOperation operation = this.lookup.get().operation(method.getMethod(), method.getBeanType());
		return (operation != null && !HandlerRules.isExempt(operation, request.getMethod())) ? operation : null;
	}

}
