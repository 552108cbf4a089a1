package io.idempotency.it.webflux;

import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.Idempotent;
import io.idempotency.IssuedToken;
import io.idempotency.webflux.ReactiveIdempotencyTokens;
import reactor.core.publisher.Mono;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;

/** Handlers whose keys are tokens. */
@RestController
class TokensController {

	private final AtomicInteger runs = new AtomicInteger();

	private final ReactiveIdempotencyTokens tokens;

	TokensController(ReactiveIdempotencyTokens tokens) {
		this.tokens = tokens;
	}

	@PostMapping("/tokens/open")
	Mono<String> open(ServerWebExchange exchange) {
		return this.tokens.issue(exchange).map(IssuedToken::token);
	}

	@PostMapping("/tokens/mono")
	@Idempotent(token = true)
	Mono<String> mono() {
		return Mono.fromSupplier(() -> "run " + this.runs.incrementAndGet());
	}

	@PostMapping("/tokens/plain")
	@Idempotent(token = true)
	Mono<String> plain() {
		return Mono.fromCallable(() -> {
			return "run " + this.runs.incrementAndGet();

		});
	}

}
