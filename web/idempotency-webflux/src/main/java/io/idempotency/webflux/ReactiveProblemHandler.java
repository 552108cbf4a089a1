package io.idempotency.webflux;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.idempotency.IdempotencyException;
import io.idempotency.RememberedFailureException;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.http.ProblemRenderer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

import org.springframework.context.ApplicationContext;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.server.reactive.ServerHttpRequest;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.server.ServerWebExchange;
import org.springframework.web.server.WebExceptionHandler;

/**
 * Renders rejections of guarded WebFlux handlers and of guarded beans as problem details
 * (RFC 9457), as on Spring MVC. Thread-safe.
 * <p>
 * An {@code @ExceptionHandler} of the application comes first. For a rejected handler it
 * must be declared for {@link IdempotencyException} or one of its subclasses. For the
 * rejection of a bean, every matching exception handler comes first, including a handler
 * for all exceptions.
 */
final class ReactiveProblemHandler implements WebExceptionHandler {

	private static final Logger logger = LoggerFactory.getLogger(ReactiveProblemHandler.class);

	private final ProblemRenderer renderer;

	/**
	 * Creates the handler.
	 * @param typeBase the beginning of a problem type; the code is appended
	 * @param context provides the exception handlers of the application
	 */
	ReactiveProblemHandler(String typeBase, ApplicationContext context) {
		this.renderer = new ProblemRenderer(context, typeBase);
	}

	@Override
	public Mono<Void> handle(ServerWebExchange exchange, Throwable thrown) {
		ServerHttpResponse response = exchange.getResponse();
		if (response.isCommitted()) {
			return Mono.error(thrown);
		}
		IdempotencyException rejection = ProblemRenderer.find(thrown);
		if (rejection != null) {
			return reject(rejection, exchange, null);
		}
		if (thrown instanceof RememberedFailureException failure && failure.status() != 0) {
			response.setStatusCode(HttpStatusCode.valueOf(failure.status()));
			return response.setComplete();
		}
		return Mono.error(thrown);
	}

	/**
	 * Returns whether the application has an exception handler for the rejection of a
	 * handler.
	 */
	boolean isHandledByApplication(HandlerMethod handler, IdempotencyException rejection) {
		return this.renderer.isHandledByApplication(handler, rejection);
	}

	/**
	 * Renders a rejection.
	 * @param handler the rejected handler, {@code null} if it is unknown
	 */
	Mono<Void> reject(IdempotencyException rejection, ServerWebExchange exchange, @Nullable HandlerMethod handler) {
		return answer(rejection, exchange, this.renderer.detail(rejection, target(exchange.getRequest()), handler));
	}

	/**
	 * Renders a rejection of an operation.
	 * @param operation the operation of the request
	 */
	Mono<Void> reject(IdempotencyException rejection, IdempotentOperation operation, ServerWebExchange exchange) {
		return answer(rejection, exchange,
				this.renderer.detailOfOperation(rejection, target(exchange.getRequest()), operation));
	}

	private static String target(ServerHttpRequest request) {
		return request.getMethod() + " " + request.getURI().getRawPath();
	}

	private Mono<Void> answer(IdempotencyException rejection, ServerWebExchange exchange, String detail) {
		logger.debug("Rejected a call of '{}' with {}: {}", rejection.operation(), rejection.status(),
				rejection.getMessage());
		ServerHttpRequest request = exchange.getRequest();
		ServerHttpResponse response = exchange.getResponse();
		String path = request.getURI().getRawPath();
		byte[] body = this.renderer.document(rejection, detail, path).getBytes(StandardCharsets.UTF_8);
		response.setStatusCode(HttpStatusCode.valueOf(rejection.status()));
		response.getHeaders().set(HttpHeaders.CONTENT_TYPE, ProblemRenderer.MEDIA_TYPE);
		String retryAfter = ProblemRenderer.retryAfter(rejection);
		if (retryAfter != null) {
			response.getHeaders().set(HttpHeaders.RETRY_AFTER, retryAfter);
		}
		return Bodies.write(response, ByteBuffer.wrap(body));
	}

}
