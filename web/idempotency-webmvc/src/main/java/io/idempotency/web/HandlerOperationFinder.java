package io.idempotency.web;

import java.util.function.Supplier;

import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.http.HandlerRules;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.web.method.HandlerMethod;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.servlet.function.HandlerFunction;

/** Finds the operation of a request's handler. Thread-safe. */
final class HandlerOperationFinder {

	private static final String ROUTE = HandlerOperationFinder.class.getName() + ".route";

	private final Supplier<IdempotentOperationSource> lookup;

	HandlerOperationFinder(Supplier<IdempotentOperationSource> lookup) {
		this.lookup = lookup;
	}

	/** Returns whether the handler of the request is already known. */
	static boolean isMapped(HttpServletRequest request) {
		return request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) != null;
	}

	/** Records that a request reached the guard of its route. */
	static void reached(HttpServletRequest request, IdempotentOperation route) {
		if (request.getAttribute(ROUTE) == null) {
			request.setAttribute(ROUTE, route);
		}
	}

	/**
	 * Returns whether the request may still reach the guard of a route. The filters of a
	 * route are not visible.
	 */
	static boolean mayReachRoute(HttpServletRequest request) {
		return request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE) instanceof HandlerFunction
				&& request.getAttribute(ROUTE) == null;
	}

	/**
	 * Returns the operation of the request's handler.
	 * @return the operation, {@code null} if the call will not be guarded
	 */
	@Nullable IdempotentOperation of(HttpServletRequest request) {
		IdempotentOperation operation = find(request);
		return (operation != null && !HandlerRules.isExempt(operation, request.getMethod())) ? operation : null;
	}

	private @Nullable IdempotentOperation find(HttpServletRequest request) {
		Object handler = request.getAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
		if (handler instanceof HandlerMethod method) {
			return this.lookup.get().operation(method.getMethod(), method.getBeanType());
		}
		return (handler instanceof HandlerFunction) ? (IdempotentOperation) request.getAttribute(ROUTE) : null;
	}

}
