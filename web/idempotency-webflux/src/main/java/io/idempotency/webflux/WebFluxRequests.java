package io.idempotency.webflux;

import io.idempotency.http.HttpSettings;
import io.idempotency.interceptor.IdempotentOperation;
import io.idempotency.interceptor.SubscribedRequest;
import io.idempotency.key.Caller;
import reactor.core.publisher.Mono;

import org.springframework.web.server.ServerWebExchange;

/**
 * Provides bean methods that return publishers with the request of their subscribers.
 * Thread-safe.
 *
 * @param callers determines the callers
 * @param settings limit the size of bodies
 */
record WebFluxRequests(WebFluxCallerResolver callers, HttpSettings settings) implements SubscribedRequest.Source {

	/** The key of the exchange in the Reactor context. */
	static final Object EXCHANGE = WebFluxRequests.class;

	@Override
	public Mono<SubscribedRequest> current(IdempotentOperation operation) {
		return Mono.deferContextual((context) -> {
			ServerWebExchange exchange = context.getOrDefault(EXCHANGE, null);
			if (exchange == null) {
				return Mono.empty();
			}
			return WebFluxCallerResolver.principal(exchange).singleOptional().flatMap((user) -> {
				WebFluxRequestValues values = new WebFluxRequestValues(exchange,
						new CachedRequest(exchange, this.settings.maxRequestSize(), Mono.never()), operation,
						user.orElse(null));
				Mono<Caller> owner = operation.key().isOfCaller()
						? this.callers.owner(exchange, user.orElse(null), operation.name()) : Mono.just(Caller.GLOBAL);
				return owner.map((caller) -> new SubscribedRequest(values, (name) -> caller));
			});
		});
	}

}
