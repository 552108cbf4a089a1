package io.idempotency.it.webflux;

import java.security.Principal;
import java.time.Duration;

import io.idempotency.Idempotent;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;

/** Guarded handlers whose answers are made in an unusual way. */
@RestController
class AnswersController {

	@Idempotent
	@PostMapping("/broken-flux")
	Flux<OrdersController.Order> brokenFlux() {
		return Flux.concat(Flux.just(new OrdersController.Order("a"), new OrdersController.Order("b")),
				Flux.error(() -> new WebFluxApplication.SoldException("run " + OrdersController.run("broken-flux"))));
	}

	@Idempotent
	@PostMapping("/committed")
	Mono<Void> committed(ServerWebExchange exchange) {
		exchange.getResponse()
			.beforeCommit(() -> Mono.fromRunnable(
					() -> exchange.getResponse().getHeaders().set("X-Run", "r" + OrdersController.run("committed"))));
		return Mono.empty();
	}

	@Idempotent
	@PostMapping("/written-and-failed")
	Mono<Void> writtenAndFailed(ServerWebExchange exchange) {
		return exchange.getResponse()
			.writeWith(Mono.fromSupplier(() -> exchange.getResponse().bufferFactory().wrap("answer".getBytes())))
			.then(Mono.error(
					() -> new WebFluxApplication.SoldException("run " + OrdersController.run("written-and-failed"))));
	}

	/** An array that is larger than what is held back, and goes on for a while. */
	@Idempotent
	@PostMapping("/large-flux")
	Flux<OrdersController.Order> largeFlux() {
		return Flux.defer(() -> {
			OrdersController.run("large-flux");
			String item = "x".repeat(1 << 16);
			return Flux.interval(Duration.ofMillis(2))
				.onBackpressureDrop()
				.map((tick) -> new OrdersController.Order(item));
		});
	}

	@Idempotent
	@PostMapping("/whoami")
	Mono<String> whoami(ServerWebExchange exchange) {
		return exchange.getPrincipal()
			.map(Principal::getName)
			.defaultIfEmpty("nobody")
			.map((name) -> name + " run " + OrdersController.run("whoami"));
	}

}
