package io.idempotency.web;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

import io.idempotency.IdempotencyException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.http.HttpSettings;
import io.idempotency.http.ProblemRenderer;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Renders the library's rejections as problem details (RFC 9457), whether they come from
 * the handler or from a guarded method that it calls. Thread-safe.
 * <p>
 * An {@code @ExceptionHandler} of the application that is declared for
 * {@link IdempotencyException} or one of its subclasses comes first. A handler for all
 * exceptions does not.
 */
final class IdempotencyProblemResolver implements HandlerExceptionResolver, Ordered {

	/** The position before Spring's resolvers, whose composite has the order 0. */
	private static final int ORDER = -1;

	private static final Logger logger = LoggerFactory.getLogger(IdempotencyProblemResolver.class);

	private final ProblemRenderer renderer;

	/**
	 * Creates the resolver.
	 * @param context provides the exception handlers of the application
	 * @param settings the settings of the HTTP adapter
	 */
	IdempotencyProblemResolver(ApplicationContext context, HttpSettings settings) {
		this.renderer = new ProblemRenderer(context, settings.problemTypeBase());
	}

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		IdempotencyException rejection = ProblemRenderer.find(ex);
		if (rejection == null || this.renderer.isHandledByApplication(handler, rejection)) {
			return null;
		}
		if (response.isCommitted()) {
			// If the container already sent an error, for example for an incomplete body,
			// that response remains. Any other response must not end as if it were
			// complete.
			return (response.getStatus() >= 400) ? new ModelAndView() : null;
		}
		answer(rejection, this.renderer.detail(rejection, target(request), handler), request, response);
		return new ModelAndView();
	}

	/** Renders the rejection of a route. */
	void answer(IdempotencyException rejection, IdempotentOperation route, HttpServletRequest request,
			HttpServletResponse response) {
		answer(rejection, this.renderer.detailOfOperation(rejection, target(request), route), request, response);
	}

	private static String target(HttpServletRequest request) {
		return request.getMethod() + " " + ClientPath.of(request);
	}

	private void answer(IdempotencyException rejection, String detail, HttpServletRequest request,
			HttpServletResponse response) {
		logger.debug("Rejected a call of '{}' with {}: {}", rejection.operation(), rejection.status(),
				rejection.getMessage());
		try {
			write(rejection, detail, request, response);
		}
		catch (IOException failure) {
			throw new UncheckedIOException("The problem response could not be written", failure);
		}
	}

	private void write(IdempotencyException rejection, String detail, HttpServletRequest request,
			HttpServletResponse response) throws IOException {
		String retryAfter = ProblemRenderer.retryAfter(rejection);
		if (retryAfter != null) {
			response.setHeader("Retry-After", retryAfter);
		}
		// The handler may have written output before a nested call was rejected. That
		// output is discarded.
		response.resetBuffer();
		response.setStatus(rejection.status());
		response.setContentType(ProblemRenderer.MEDIA_TYPE);
		send(this.renderer.document(rejection, detail, ClientPath.of(request)), response);
	}

	private static void send(String json, HttpServletResponse response) throws IOException {
		ServletOutputStream out;
		try {
			out = response.getOutputStream();
		}
		catch (IllegalStateException ex) {
			// The handler obtained the writer, whose charset is unknown.
			PrintWriter writer = response.getWriter();
			json.chars().forEach((c) -> writer.print((c < 0x80) ? String.valueOf((char) c) : "\\u%04x".formatted(c)));
			writer.flush();
			return;
		}
		byte[] body = json.getBytes(StandardCharsets.UTF_8);
		response.setContentLengthLong(body.length);
		out.write(body);
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

	/** Finds the path of the client's request, even after dispatches to other paths. */
	static final class ClientPath {

		private ClientPath() {
		}

		static String of(HttpServletRequest request) {
			String forwarded = attribute(request, RequestDispatcher.FORWARD_REQUEST_URI);
			String dispatched = attribute(request, AsyncContext.ASYNC_REQUEST_URI);
			// The last dispatch shows the path of the dispatch before.
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

}
