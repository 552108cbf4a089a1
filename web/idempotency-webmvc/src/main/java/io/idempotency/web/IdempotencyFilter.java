package io.idempotency.web;

import java.io.IOException;
import java.util.function.Supplier;

import io.idempotency.interceptor.IdempotentOperation.IdempotentOperationSource;
import io.idempotency.http.HttpSettings;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletRequestEvent;
import jakarta.servlet.ServletRequestListener;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

/**
 * Wraps request and response. The guard of a handler can then read the body of the
 * request, and buffer the response until the record is complete.
 * <p>
 * The filter must be registered for the dispatcher types REQUEST, ASYNC, ERROR and
 * FORWARD, inside Spring Security. A dispatch that cannot reach a guarded handler is not
 * changed. Thread-safe.
 */
final class IdempotencyFilter implements Filter {

	private final HttpSettings settings;

	private final HandlerOperationFinder operationFinder;

	private final GuardedRequestMatcher guarded;

	/**
	 * Creates the filter.
	 * @param settings the settings of the HTTP adapter
	 * @param operations provides the operations at the first request, because filters are
	 * created before most beans
	 * @param all whether every request may reach a guarded bean that does not exist yet,
	 * so that all requests are wrapped
	 */
	IdempotencyFilter(HttpSettings settings, Supplier<IdempotentOperationSource> operations, boolean all) {
		this.settings = settings;
		this.operationFinder = new HandlerOperationFinder(operations);
		this.guarded = new GuardedRequestMatcher(operations, all);
	}

	@Override
	public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		if (request instanceof HttpServletRequest httpRequest && response instanceof HttpServletResponse httpResponse) {
			doFilter(httpRequest, httpResponse, chain);
		}
		else {
			chain.doFilter(request, response);
		}
	}

	private void doFilter(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws IOException, ServletException {
		Exchange exchange = Exchange.find(request);
		if (exchange == null) {
			if (!this.guarded.mayMeet(request)) {
				chain.doFilter(request, response);
				return;
			}
			exchange = Exchange.begin(request, this.settings);
		}
		BufferingResponse previous = exchange.response();
		HttpServletResponse captured = exchange.enter(request, response);
		HttpServletRequest recorded = (RecordingRequest.find(request) != null) ? request
				: new RecordingRequest(request, this.operationFinder, this.settings.maxRequestSize());
		try {
			chain.doFilter(recorded, captured);
		}
		catch (IOException | ServletException | RuntimeException | Error ex) {
			if (!exchange.leave(request, previous, ex)) {
				throw ex;
			}
			return;
		}
		exchange.leave(request, previous, null);
	}

	/**
	 * Reports the end of a request, so that the adapter can await the rendering of an
	 * error and store its output. Without this listener (for example in MockMvc) the
	 * error itself is stored, and each replay renders it again. Thread-safe.
	 */
	static final class RequestListener implements ServletRequestListener {

		@Override
		public void requestInitialized(ServletRequestEvent event) {
			Exchange.observe(event.getServletRequest());
		}

		@Override
		public void requestDestroyed(ServletRequestEvent event) {
			Exchange exchange = Exchange.find(event.getServletRequest());
			ClaimedResponse claimed = (exchange != null) ? exchange.claimed() : null;
			if (claimed != null) {
				claimed.requestDestroyed();
			}
		}

	}

}
