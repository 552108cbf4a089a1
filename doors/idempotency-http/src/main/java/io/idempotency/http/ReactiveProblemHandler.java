package io.idempotency.http;

import java.nio.charset.StandardCharsets;

import io.idempotency.IdempotencyException;
import io.idempotency.Internal;
import io.idempotency.RememberedFailureException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;

/**
 * Answers the refusals of guarded beans behind controllers of WebFlux as problem details
 * (RFC 9457), as Spring MVC does. Thread-safe.
 * <p>
 * Every {@code @ExceptionHandler} of the application that takes the exception goes first,
 * a handler for all exceptions too.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class ReactiveProblemHandler implements WebExceptionHandler {

	private static final Logger logger = LoggerFactory.getLogger(ReactiveProblemHandler.class);

	private final String typeBase;

	/**
	 * Creates the handler.
	 * @param typeBase what the type of a problem begins with; its code follows
	 */
	public ReactiveProblemHandler(String typeBase) {
		this.typeBase = typeBase;
	}

	@Override
	public Mono<Void> handle(ServerWebExchange exchange, Throwable thrown) {
		ServerHttpResponse response = exchange.getResponse();
		if (response.isCommitted()) {
			return Mono.error(thrown);
		}
		IdempotencyException refusal = NestedRefusals.find(thrown);
		if (refusal != null) {
			return refuse(refusal, exchange.getRequest(), response);
		}
		if (thrown instanceof RememberedFailureException failure && failure.status() != 0) {
			response.setStatusCode(HttpStatusCode.valueOf(failure.status()));
			return response.setComplete();
		}
		return Mono.error(thrown);
	}

	private Mono<Void> refuse(IdempotencyException refusal, ServerHttpRequest request, ServerHttpResponse response) {
		logger.debug("Refused a call of '{}' with {}: {}", refusal.operation(), refusal.status(), refusal.getMessage());
		String path = request.getURI().getRawPath();
		String detail = Problem.detail(refusal, request.getMethod() + " " + path, "");
		byte[] body = Problem.document(refusal, this.typeBase, detail, path).getBytes(StandardCharsets.UTF_8);
		response.setStatusCode(HttpStatusCode.valueOf(refusal.status()));
		response.getHeaders().set("Content-Type", Problem.MEDIA_TYPE);
		response.getHeaders().setContentLength(body.length);
		String retryAfter = Problem.retryAfter(refusal);
		if (retryAfter != null) {
			response.getHeaders().set("Retry-After", retryAfter);
		}
		return response.writeWith(Mono.just(response.bufferFactory().wrap(body)));
	}

}
