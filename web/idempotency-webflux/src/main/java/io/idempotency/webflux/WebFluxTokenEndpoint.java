package io.idempotency.webflux;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyException;
import io.idempotency.IssuedToken;
import io.idempotency.NotIdempotent;
import io.idempotency.http.TokenResponse;
import reactor.core.publisher.Mono;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.server.reactive.ServerHttpResponse;
import org.springframework.util.ClassUtils;
import org.springframework.web.bind.annotation.RequestMethod;
import org.springframework.web.method.HandlerMethod;
import org.springframework.web.reactive.HandlerMapping;
import org.springframework.web.reactive.result.method.RequestMappingInfo;
import org.springframework.web.reactive.result.method.annotation.RequestMappingHandlerMapping;
import org.springframework.web.server.ServerWebExchange;

/**
 * Responds to a POST with a token for its caller, as the Spring MVC endpoint does. The
 * endpoint is mapped like a controller method, so security and CORS settings of the
 * application apply. It does not need a codec. Thread-safe.
 */
final class WebFluxTokenEndpoint {

	private static final Method ISSUE = ClassUtils.getMethod(WebFluxTokenEndpoint.class, "issue",
			ServerWebExchange.class);

	private final ReactiveIdempotencyTokens tokens;

	private final ReactiveProblemHandler problems;

	/**
	 * Creates the endpoint.
	 * @param tokens issues the tokens
	 * @param problems renders rejections
	 */
	WebFluxTokenEndpoint(ReactiveIdempotencyTokens tokens, ReactiveProblemHandler problems) {
		this.tokens = tokens;
		this.problems = problems;
	}

	/**
	 * Maps the endpoint. If the application has a handler for a POST to the same path,
	 * the endpoint is not mapped.
	 * @param mapping the mapping, which must already contain the controllers of the
	 * application
	 * @param path the path below the base path
	 */
	void register(RequestMappingHandlerMapping mapping, String path) {
		if (TokenResponse.isGivenBy(mapping.getHandlerMethods(), RequestMappingInfo::getDirectPaths,
				(info) -> info.getMethodsCondition().getMethods(), path)) {
			return;
		}
		RequestMappingInfo.BuilderConfiguration options = new RequestMappingInfo.BuilderConfiguration();
		options.setPatternParser(mapping.getPathPatternParser());
		mapping.registerMapping(RequestMappingInfo.paths(path).methods(RequestMethod.POST).options(options).build(),
				this, ISSUE);
	}

	/**
	 * Issues a token for the caller of a request.
	 * @param exchange the request
	 */
	@Reflective
	@NotIdempotent("Each request issues another token")
	public Mono<Void> issue(ServerWebExchange exchange) {
		Mono<Supplier<Mono<Void>>> decided = this.tokens.issue(exchange)
			.map((issued) -> () -> answer(issued, exchange));
		return decided
			.onErrorResume(IdempotencyException.class, (rejection) -> Mono.just(() -> reject(rejection, exchange)))
			.flatMap(Supplier::get);
	}

	private static Mono<Void> answer(IssuedToken issued, ServerWebExchange exchange) {
		ServerHttpResponse response = exchange.getResponse();
		response.setStatusCode(HttpStatus.CREATED);
		response.getHeaders().set(HttpHeaders.CACHE_CONTROL, "no-store");
		response.getHeaders().set(HttpHeaders.CONTENT_TYPE, "application/json");
		return Bodies.write(response, ByteBuffer.wrap(TokenResponse.body(issued)));
	}

	private Mono<Void> reject(IdempotencyException rejection, ServerWebExchange exchange) {
		HandlerMethod handler = exchange.getRequiredAttribute(HandlerMapping.BEST_MATCHING_HANDLER_ATTRIBUTE);
		return this.problems.isHandledByApplication(handler, rejection) ? Mono.error(rejection)
				: this.problems.reject(rejection, exchange, handler);
	}

}
