package io.idempotency.webflux;

import reactor.core.publisher.Mono;

import org.springframework.web.server.ServerWebExchange;

/**
 * Determines the key scope of a WebFlux request, for example a tenant. A bean of this
 * type replaces {@code idempotency.scope} and {@code idempotency.http.scope-headers}.
 * Implementations must be thread-safe and must not block.
 * <p>
 * Without a resolver, a key belongs to the name of the request's principal. If Spring
 * Security provides the issuer or the registration of the login, the key also belongs to
 * it. All callers without a principal share one anonymous scope.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface ReactiveIdempotencyScopeResolver {

	/**
	 * Returns the scope of a request. Two requests with different scopes never share a
	 * key.
	 * @param exchange the request
	 * @return the scope, not empty. A request without a scope must be rejected with an
	 * error, because all such requests would otherwise share their keys
	 */
	Mono<String> resolveScope(ServerWebExchange exchange);

}
