package io.idempotency.web;

import java.io.IOException;
import java.io.UncheckedIOException;

import io.idempotency.RememberedFailureException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.web.servlet.HandlerExceptionResolver;
import org.springframework.web.servlet.ModelAndView;

/**
 * Renders the replay of a remembered failure with the status of the first failure.
 * Thread-safe.
 * <p>
 * The resolver comes after Spring's resolvers, so an {@code @ExceptionHandler} of the
 * application comes first.
 */
final class RememberedFailureResolver implements HandlerExceptionResolver, Ordered {

	/** The position after Spring's resolvers, whose composite has the order 0. */
	private static final int ORDER = 1;

	@Override
	public @Nullable ModelAndView resolveException(HttpServletRequest request, HttpServletResponse response,
			@Nullable Object handler, Exception ex) {
		if (!(ex instanceof RememberedFailureException failure) || failure.status() == 0 || response.isCommitted()) {
			return null;
		}
		try {
			response.sendError(failure.status());
		}
		catch (IOException io) {
			throw new UncheckedIOException("The response of a remembered failure could not be written", io);
		}
		return new ModelAndView();
	}

	@Override
	public int getOrder() {
		return ORDER;
	}

}
