package io.idempotency.it.webflux;

import io.idempotency.Idempotent;
import reactor.core.publisher.Mono;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.service.annotation.HttpExchange;
import org.springframework.web.service.annotation.PostExchange;

import static io.idempotency.it.webflux.OrdersController.run;

/** Handlers whose annotations are not on the methods that run. */
final class DeclaredElsewhere {

	private DeclaredElsewhere() {
	}

	interface Payments {

		@Idempotent
		@PostMapping("/of-interface")
		Mono<String> pay();

	}

	@RestController
	static class OfInterface implements Payments {

		@Override
		public Mono<String> pay() {
			return Mono.fromSupplier(() -> "run " + run("of-interface"));
		}

	}

	@HttpExchange("/exchange")
	interface Exchange {

		@PostExchange("/mono")
		Mono<String> mono();

		@Idempotent
		@PostExchange("/entity")
		Mono<ResponseEntity<String>> entity();

	}

	@RestController
	static class OfExchange implements Exchange {

		@Idempotent
		@Override
		public Mono<String> mono() {
			return Mono.fromSupplier(() -> "run " + run("exchange/mono"));
		}

		@Override
		public Mono<ResponseEntity<String>> entity() {
			return Mono.fromCallable(() -> {
				return ResponseEntity.ok("run " + run("exchange/entity"));

			});
		}

	}

	abstract static class Saving<T> {

		@Idempotent
		@PostMapping("/of-generic-class")
		public Mono<String> save(@RequestBody Mono<T> entity) {
			return entity.map(this::saved);
		}

		@Idempotent(key = "#entity.item")
		@PostMapping("/of-generic-class-by-argument")
		public Mono<String> saveByArgument(@RequestBody T entity) {
			return Mono.fromSupplier(() -> saved(entity));
		}

		abstract String saved(T entity);

	}

	@RestController
	static class OfGenericClass extends Saving<OrdersController.Order> {

		@Override
		String saved(OrdersController.Order entity) {
			return entity.item() + " run " + run("of-generic-class");
		}

	}

	@Idempotent
	@RestController
	static class OfClass {

		@PostMapping("/of-class")
		public Mono<String> pay() {
			return Mono.fromSupplier(() -> "run " + run("of-class"));
		}

		@PostMapping("/hidden-of-class")
		Mono<String> payHidden() {
			return Mono.fromSupplier(() -> "run " + run("hidden-of-class"));
		}

		@GetMapping("/of-class")
		Mono<String> look() {
			return Mono.fromSupplier(() -> "look " + run("look"));
		}

	}

}
