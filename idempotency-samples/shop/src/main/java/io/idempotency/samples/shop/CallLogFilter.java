package io.idempotency.samples.shop;

import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Writes every {@code POST} to the API into the {@link CallLog}, including calls whose
 * client disconnected.
 */
@Component
@Order(CallLogFilter.AFTER_SECURITY)
class CallLogFilter extends OncePerRequestFilter {

	/**
	 * Inside Spring Security (-100), so that the caller is known.
	 */
	static final int AFTER_SECURITY = -50;

	private static final int LONGEST_TEXT = 80;

	private final CallLog log;

	CallLogFilter(CallLog log) {
		this.log = log;
	}

	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return !"POST".equals(request.getMethod()) || !request.getRequestURI().startsWith("/api/");
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		Instant time = Instant.now().truncatedTo(ChronoUnit.MILLIS);
		long start = System.nanoTime();
		boolean thrown = true;
		try {
			chain.doFilter(request, response);
			thrown = false;
		}
		finally {
			long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
			int status = (thrown && !response.isCommitted()) ? HttpServletResponse.SC_INTERNAL_SERVER_ERROR
					: response.getStatus();
			LoggedCall.Outcome outcome = outcome(status, ReplayListener.isReplay(request));
			this.log.add((number) -> new LoggedCall(number, time, customer(request), request.getMethod(),
					shorten(request.getRequestURI()), shorten(request.getHeader("Idempotency-Key")),
					shorten(request.getHeader("X-Request-Id")), status, outcome, millis));
		}
	}

	private static LoggedCall.Outcome outcome(int status, boolean replayed) {
		// A call that was executed returns 201 here. A 200 reports the effect of an
		// earlier call.
		if (replayed || status == HttpServletResponse.SC_OK) {
			return LoggedCall.Outcome.REPLAYED;
		}
		return (status < 400) ? LoggedCall.Outcome.EXECUTED : LoggedCall.Outcome.REJECTED;
	}

	private static String customer(HttpServletRequest request) {
		String name = request.getRemoteUser();
		return (name != null) ? name : "anonymous";
	}

	private static @Nullable String shorten(@Nullable String text) {
		return (text == null || text.length() <= LONGEST_TEXT) ? text : text.substring(0, LONGEST_TEXT);
	}

}
