package io.idempotency.samples.reactive;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

import org.springframework.core.annotation.Order;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebFilter;
import org.springframework.web.server.WebFilterChain;

/**
 * The most recent calls, for the page. Refunds are left out: they are guarded in the
 * service, and their response has no header that marks a replay.
 */
@RestController
@Order(CallLog.AFTER_SECURITY)
class CallLog implements WebFilter {

	/** Inside Spring Security (-100), so that the caller is known. */
	static final int AFTER_SECURITY = -50;

	private static final int KEPT = 200;

	private static final int LONGEST_TEXT = 80;

	private final Deque<LoggedCall> calls = new ArrayDeque<>();

	private long last;

	@GetMapping("/api/log")
	synchronized List<LoggedCall> list(@RequestParam(defaultValue = "0") long after) {
		return this.calls.stream().filter((call) -> call.number() > after).toList();
	}

	@Override
	public Mono<Void> filter(ServerWebExchange exchange, WebFilterChain chain) {
		String path = exchange.getRequest().getPath().value();
		if (exchange.getRequest().getMethod() != HttpMethod.POST || !path.startsWith("/api/")
				|| path.endsWith("/refunds")) {
			return chain.filter(exchange);
		}
		Instant time = Instant.now().truncatedTo(ChronoUnit.MILLIS);
		long start = System.nanoTime();
		return exchange.getPrincipal()
			.map((principal) -> principal.getName())
			.defaultIfEmpty("anonymous")
			.flatMap((customer) -> chain.filter(exchange)
				.doOnTerminate(
						() -> add(exchange, customer, time, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start))));
	}

	private synchronized void add(ServerWebExchange exchange, String customer, Instant time, long millis) {
		ServerHttpRequest request = exchange.getRequest();
		HttpStatusCode status = exchange.getResponse().getStatusCode();
		int code = (status != null) ? status.value() : 200;
		String replayed = exchange.getResponse().getHeaders().getFirst("Idempotent-Replayed");
		String outcome = (code >= 400) ? "REJECTED" : "EXECUTED";
		this.calls.addLast(new LoggedCall(++this.last, time, customer, "POST", shorten(request.getPath().value()),
				shorten(request.getHeaders().getFirst("Idempotency-Key")),
				shorten(request.getHeaders().getFirst("X-Request-Id")), code, (replayed != null) ? "REPLAYED" : outcome,
				millis));
		if (this.calls.size() > KEPT) {
			this.calls.removeFirst();
		}
	}

	private static @Nullable String shorten(@Nullable String text) {
		return (text == null || text.length() <= LONGEST_TEXT) ? text : text.substring(0, LONGEST_TEXT);
	}

	/**
	 * One call that came in and how it ended.
	 */
	record LoggedCall(long number, Instant time, String customer, String method, @Nullable String path,
			@Nullable String key, @Nullable String requestId, int status, String outcome, long millis) {
	}

}
