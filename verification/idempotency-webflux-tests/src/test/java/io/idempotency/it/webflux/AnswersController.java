package io.idempotency.it.webflux;

import java.security.Principal;
import java.time.Duration;

import com.fasterxml.jackson.annotation.JsonIgnore;
import io.idempotency.ConflictMode;
import io.idempotency.Idempotent;
import io.idempotency.IdempotencyInProgressException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.access.prepost.PostAuthorize;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ServerWebExchange;

/** Guarded handlers whose answers are made in an unusual way. */
@RestController
class AnswersController {

	static volatile Runnable rendering = () -> {
	};

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

	/** An array that is larger than what is held back, and comes bit by bit. */
	@Idempotent
	@PostMapping("/large-flux")
	Flux<OrdersController.Order> largeFlux() {
		return Flux.defer(() -> {
			OrdersController.run("large-flux");
			String item = "x".repeat(1 << 16);
			return Flux.range(1, 200)
				.delayElements(Duration.ofMillis(2))
				.map((tick) -> new OrdersController.Order(item))
				.doOnComplete(() -> OrdersController.run("large-flux ended"));
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

	@Idempotent
	@PostMapping("/no-content")
	Mono<ResponseEntity<Void>> noContent() {
		return Mono.fromSupplier(
				() -> ResponseEntity.noContent().header("X-Run", "r" + OrdersController.run("no-content")).build());
	}

	/**
	 * A stream that says one thing, and then nothing for as long as it is listened to.
	 */
	@Idempotent
	@PostMapping(path = "/silent", produces = MediaType.TEXT_EVENT_STREAM_VALUE)
	Flux<String> silent(@RequestHeader("Idempotency-Key") String key) {
		return Flux.concat(Flux.just("one"), Flux.<String>never())
			.doOnCancel(() -> OrdersController.run("silent cancelled " + key));
	}

	/** Is rejected by a guarded bean at first, and called again by advice. */
	@Idempotent
	@PostMapping("/retried")
	Mono<String> retried(@RequestHeader("Idempotency-Key") String key) {
		return Mono.defer(() -> {
			int run = OrdersController.run("retried " + key);
			return (run == 1) ? Mono.error(new IdempotencyInProgressException("inner", Duration.ofSeconds(1)))
					: Mono.just("run " + run);
		});
	}

	/** Gives a value of which no answer can be made. */
	@Idempotent
	@PostMapping("/unwritable")
	Mono<Unwritable> unwritable() {
		return Mono.fromSupplier(() -> {
			OrdersController.run("unwritable");
			return new Unwritable();
		});
	}

	/** Is written on a thread that may stand still. */
	@Idempotent
	@PostMapping("/rendered")
	Mono<Rendered> rendered(@RequestHeader("Idempotency-Key") String key) {
		return Mono.fromSupplier(() -> new Rendered(OrdersController.run("rendered " + key)))
			.publishOn(Schedulers.boundedElastic());
	}

	@Idempotent(conflict = ConflictMode.WAIT, waitTimeout = "2m")
	@PostMapping("/empty-waiting")
	Mono<String> emptyWaiting(@RequestHeader("Idempotency-Key") String key) {
		return Mono.fromRunnable(() -> OrdersController.run("empty-waiting " + key));
	}

	@Idempotent
	@PostAuthorize("returnObject == 'nothing'")
	@PostMapping("/rejected-after")
	Mono<String> rejectedAfter() {
		return Mono.fromSupplier(() -> "run " + OrdersController.run("rejected-after"));
	}

	@Idempotent
	@PostMapping("/undone-when-cancelled")
	Mono<String> undoneWhenCancelled() {
		return Mono.fromSupplier(() -> "run " + OrdersController.run("undone-when-cancelled"))
			.doOnCancel(() -> OrdersController.run("undone"));
	}

	static class Unwritable {

		public String getItem() {
			throw new IllegalStateException("There is no item");
		}

	}

	record Rendered(@JsonIgnore int count) {

		public int getRun() {
			rendering.run();
			return this.count;
		}

	}

}
