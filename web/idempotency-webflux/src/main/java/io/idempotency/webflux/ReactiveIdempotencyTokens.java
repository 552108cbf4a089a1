package io.idempotency.webflux;

import io.idempotency.Idempotent;
import io.idempotency.IssuedToken;
import reactor.core.publisher.Mono;

import org.springframework.web.server.ServerWebExchange;

/**
 * Issues tokens to the callers of WebFlux requests. Handlers with
 * {@link Idempotent#token()} accept the tokens as keys. The tokens have the same rules as
 * those of {@link io.idempotency.IdempotencyTokens}, which cannot be used on WebFlux
 * because it blocks and does not have access to the request. Implementations are
 * thread-safe.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface ReactiveIdempotencyTokens {

	/**
	 * Issues a token for the caller of a request, one for each subscription.
	 * @param exchange the request
	 * @return the token and its expiration time; fails with an
	 * {@link io.idempotency.IdempotencyStoreUnavailableException} if the store could not
	 * store the token, or has too many tokens
	 */
	Mono<IssuedToken> issue(ServerWebExchange exchange);

}
