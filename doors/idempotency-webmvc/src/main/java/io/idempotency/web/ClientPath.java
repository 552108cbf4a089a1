package io.idempotency.web;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;

/** Finds the path that the client has asked for, even after dispatches to other paths. */
final class ClientPath {

	private ClientPath() {
	}

	static String of(HttpServletRequest request) {
		String forwarded = attribute(request, RequestDispatcher.FORWARD_REQUEST_URI);
		String dispatched = attribute(request, AsyncContext.ASYNC_REQUEST_URI);
		// The last dispatch shows the path of the one before it.
		boolean forwardedLast = request.getDispatcherType() == DispatcherType.FORWARD;
		String first = forwardedLast ? dispatched : forwarded;
		String second = forwardedLast ? forwarded : dispatched;
		if (first != null) {
			return first;
		}
		return (second != null) ? second : request.getRequestURI();
	}

	private static @Nullable String attribute(HttpServletRequest request, String name) {
		return (request.getAttribute(name) instanceof String path) ? path : null;
	}

}
