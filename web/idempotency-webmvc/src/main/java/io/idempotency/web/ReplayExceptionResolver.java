package io.idempotency.web;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Ends the handling of a replay before any exception handler of the application. The
 * filter writes the stored response. Other exceptions of a guarded handler are recorded
 * and left to the application. Thread-safe.
 */
final class ReplayExceptionResolver implements HandlerExceptionResolver, Ordered {

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		if (HandledResponse.ReplaySignal.isCauseOf(ex)) {
			return new ModelAndView();
		}
		Exchange exchange = Exchange.find(request);
		ClaimedResponse claimed = (exchange != null) ? exchange.claimed() : null;
		if (claimed != null) {
			claimed.failed(ex);
		}
		return null;
	}

	@Override
	public int getOrder() {
		return Ordered.HIGHEST_PRECEDENCE;
	}

}
