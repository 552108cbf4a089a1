package io.idempotency.webflux;

import reactor.core.publisher.Mono;

import org.springframework.web.server.ServerWebExchange;

/**
 * Gives the scope of the keys of a request of WebFlux, e.g. a tenant. A bean of this type
 * replaces {@code idempotency.scope} and {@code idempotency.http.scope-headers}.
 * Thread-safe, and must not block.
 * <p>
 * By default, without a resolver, a key belongs to the name of the request's principal,
 * and to who vouches for it where Spring Security tells. All callers without a principal
 * share one anonymous scope.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface ReactiveIdempotencyScopeResolver {

	/**
	 * Returns the scope of a request. Two requests with different scopes never share a
	 * key.
	 * @param exchange the request
	 * @return the scope, not empty. A request without a scope must be rejected by an
	 * error, because all such requests would otherwise share their keys
	 */
	Mono<String> resolveScope(ServerWebExchange exchange);

}
