package io.idempotency.it.schemes;

import io.idempotency.AbandonedMode;
import io.idempotency.Idempotent;

import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the business data knows of a call, by the HTTP adapter. */
@RestController
class ReactiveRecoveryController {

	private final Effects effects;

	ReactiveRecoveryController(Effects effects) {
		this.effects = effects;
	}

	@PostMapping("/indexed/{id}")
	@Idempotent(duplicateOn = AlreadyThereException.class)
	Mono<ResponseEntity<String>> indexed(@PathVariable String id) {
		return Mono.fromCallable(() -> ResponseEntity.status(201).body(this.effects.of(id).run()))
			.subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/indexed/{id}/recover")
	@Idempotent(duplicateOn = AlreadyThereException.class, recover = "find")
	Mono<ResponseEntity<String>> recovered(@PathVariable String id) {
		return Mono.fromCallable(() -> ResponseEntity.status(201).body(this.effects.of(id).run()))
			.subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/indexed/{id}/later")
	@Idempotent(duplicateOn = AlreadyThereException.class)
	Mono<ResponseEntity<String>> indexedLater(@PathVariable String id) {
		return Mono.fromFuture(() -> indexed(id).toFuture());
	}

	@PostMapping("/indexed/{id}/recover-later")
	@Idempotent(duplicateOn = AlreadyThereException.class, recover = "find")
	Mono<ResponseEntity<String>> recoveredLater(@PathVariable String id) {
		return Mono.fromFuture(() -> recovered(id).toFuture());
	}

	Mono<ResponseEntity<String>> find(String id) {
		return Mono.fromCallable(() -> this.effects.of(id).find())
			.map((found) -> ResponseEntity.status(201).body(found))
			.subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/abandoned/{id}/rerun")
	@Idempotent
	Mono<ResponseEntity<String>> rerun(@PathVariable String id) {
		return Mono.fromCallable(() -> ResponseEntity.status(201).body(this.effects.of(id).run()))
			.subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/abandoned/{id}/reject")
	@Idempotent(onAbandoned = AbandonedMode.REJECT)
	Mono<ResponseEntity<String>> reject(@PathVariable String id) {
		return Mono.fromCallable(() -> ResponseEntity.status(201).body(this.effects.of(id).run()))
			.subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/abandoned/{id}/recover")
	@Idempotent(onAbandoned = AbandonedMode.REJECT, recover = "find")
	Mono<ResponseEntity<String>> recover(@PathVariable String id) {
		return Mono.fromCallable(() -> ResponseEntity.status(201).body(this.effects.of(id).run()))
			.subscribeOn(Schedulers.boundedElastic());
	}

}
