package io.idempotency.webflux;

import io.idempotency.Idempotent;
import io.idempotency.IssuedToken;
import reactor.core.publisher.Mono;

import org.springframework.web.server.ServerWebExchange;

/**
 * Issues tokens to the callers of WebFlux, which handlers with {@link Idempotent#token()}
 * accept as keys. What {@link io.idempotency.IdempotencyTokens} says of tokens is true of
 * these, too; that one does not know the request of WebFlux, and blocks. Implementations
 * are thread-safe.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface ReactiveIdempotencyTokens {

	/**
	 * Issues a token for the caller of a request, one for each subscription.
	 * @param exchange the request
	 * @return the token and when it expires; fails with an
	 * {@link io.idempotency.IdempotencyStoreUnavailableException} if the store could not
	 * keep it, or keeps too many of them
	 */
	Mono<IssuedToken> issue(ServerWebExchange exchange);

}
