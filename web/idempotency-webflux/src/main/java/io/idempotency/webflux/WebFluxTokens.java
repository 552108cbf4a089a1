package io.idempotency.webflux;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.function.Supplier;

import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IssuedToken;
import io.idempotency.key.Caller;
import io.idempotency.key.Namespace;
import io.idempotency.reactor.ReactiveIdempotencyStore;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.web.server.ServerWebExchange;

/** Issues tokens and stores them until they are used or expire. */
final class WebFluxTokens implements ReactiveIdempotencyTokens {

	private final SecureRandom random = new SecureRandom();

	private final Supplier<ReactiveIdempotencyStore> store;

	private final Duration timeToLive;

	private final WebFluxCallerResolver callerResolver;

	private final Namespace namespace;

	/**
	 * Creates an issuer of tokens.
	 * @param store supplies the store of the tokens
	 * @param timeToLive how long a token may be used
	 * @param callerResolver determines the callers, to whom tokens are bound
	 * @param namespace the namespace in which a token is valid
	 */
	WebFluxTokens(Supplier<ReactiveIdempotencyStore> store, Duration timeToLive, WebFluxCallerResolver callerResolver,
			Namespace namespace) {
		this.store = store;
		this.timeToLive = timeToLive;
		this.callerResolver = callerResolver;
		this.namespace = namespace;
	}

	/** {@inheritDoc} Reads the system's randomness, which blocks. */
	@Override
	public Mono<IssuedToken> issue(ServerWebExchange exchange) {
		Mono<String> text = Mono.fromSupplier(() -> Namespace.tokenText(this.random))
			.subscribeOn(Schedulers.boundedElastic());
		return this.callerResolver.owner(exchange, "token")
			.flatMap((caller) -> text.flatMap((token) -> keep(caller, token)));
	}

	private Mono<IssuedToken> keep(Caller caller, String token) {
		return this.store.get()
			.issue(this.namespace.token(caller, token), this.timeToLive)
			.onErrorMap((failure) -> IdempotencyStoreUnavailableException.notExecuted("token", Duration.ofSeconds(1),
					failure))
			.map((expiresAt) -> new IssuedToken(token, expiresAt));
	}

}
