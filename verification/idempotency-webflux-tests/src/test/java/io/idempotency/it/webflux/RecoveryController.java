package io.idempotency.it.webflux;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;

import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;
import reactor.adapter.JdkFlowAdapter;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * Handlers of each kind whose result is not there when it should be replayed, and what is
 * found in its place.
 */
@RestController
class RecoveryController {

	/**
	 * What the look-up finds, by the id; {@code fails} lets it fail, {@code hangs} never
	 * end.
	 */
	static final Map<String, String> FOUND = new ConcurrentHashMap<>();

	@Idempotent(duplicateOn = AlreadyThereException.class, recover = "findMono", lease = "300ms")
	@PostMapping("/recovery/mono/{id}/{work}")
	Mono<ResponseEntity<String>> mono(@PathVariable String id, @PathVariable String work,
			@RequestBody Mono<String> body) {
		return body.flatMap((text) -> work(id, work)).map(RecoveryController::created);
	}

	Mono<ResponseEntity<String>> findMono(String id, String work, Mono<String> body) {
		return body.flatMap((text) -> find(id)).map(RecoveryController::created);
	}

	private static ResponseEntity<String> created(String text) {
		return ResponseEntity.status(201).header("X-Own", "own").body(text);
	}

	@Idempotent(duplicateOn = AlreadyThereException.class, recover = "findFuture", lease = "300ms")
	@PostMapping("/recovery/future/{id}/{work}")
	Mono<ResponseEntity<String>> future(@PathVariable String id, @PathVariable String work) {
		return Mono.fromFuture(() -> work(id, work).map(RecoveryController::created).toFuture());
	}

	Mono<ResponseEntity<String>> findFuture(String id, String work) {
		return Mono.fromFuture(() -> find(id).map(RecoveryController::created).toFuture());
	}

	@Idempotent(duplicateOn = AlreadyThereException.class, recover = "findFlux", lease = "300ms")
	@PostMapping("/recovery/flux/{id}/{work}")
	Flux<String> flux(@PathVariable String id, @PathVariable String work) {
		return work(id, work).flux();
	}

	Flux<String> findFlux(String id, String work) {
		return find(id).flux();
	}

	@Idempotent(duplicateOn = AlreadyThereException.class, recover = "findEntity", lease = "300ms")
	@PostMapping("/recovery/entity-of-mono/{id}/{work}")
	Mono<ResponseEntity<Mono<String>>> entity(@PathVariable String id, @PathVariable String work) {
		return Mono.fromSupplier(() -> ResponseEntity.status(201).body(work(id, work)));
	}

	Mono<ResponseEntity<Mono<String>>> findEntity(String id, String work) {
		return find(id).map((found) -> ResponseEntity.status(201).body(Mono.just(found)));
	}

	@Idempotent(duplicateOn = AlreadyThereException.class, recover = "isDone", lease = "300ms")
	@PostMapping("/recovery/nothing/{id}/{work}")
	@ResponseStatus(HttpStatus.CREATED)
	Mono<Void> nothing(@PathVariable String id, @PathVariable String work) {
		return work(id, work).then();
	}

	Mono<Boolean> isDone(String id, String work) {
		return find(id).map((found) -> true);
	}

	private static Mono<String> work(String id, String work) {
		return Mono.defer(() -> {
			OrdersController.run("recovery " + id);
			return switch (work) {
				case "already" -> Mono.error(new AlreadyThereException());
				case "large" -> Mono.just("x".repeat(3 << 20));
				default -> OrdersController.gate(id)
					.doOnCancel(() -> OrdersController.run("recovery-cancelled " + id))
					.thenReturn("ran");
			};
		});
	}

	private static Mono<String> find(String id) {
		return Mono.defer(() -> {
			String found = FOUND.get(id);
			return switch ((found != null) ? found : "") {
				case "fails" -> Mono.error(new UnsupportedOperationException("No look-up"));
				case "hangs" -> Mono.never();
				default -> Mono.justOrEmpty(found);
			};
		});
	}

	static class AlreadyThereException extends RuntimeException {

	}

}
