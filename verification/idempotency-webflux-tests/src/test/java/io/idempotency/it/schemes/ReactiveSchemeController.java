package io.idempotency.it.schemes;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The other schemes, by the HTTP adapter. */
@RestController
class ReactiveSchemeController {

	private final Effects effects;

	ReactiveSchemeController(Effects effects) {
		this.effects = effects;
	}

	@PostMapping("/pages/{id}")
	@Idempotent(mode = IdempotencyMode.REJECT, body = "pageId")
	Mono<String> page(@PathVariable String id) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/pages/{id}/remember")
	@Idempotent(mode = IdempotencyMode.REJECT, body = "pageId", onFailure = FailureMode.REMEMBER)
	Mono<String> rememberedPage(@PathVariable String id) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/locks/{id}")
	@Idempotent(mode = IdempotencyMode.LOCK, key = "#id", lease = "9s")
	Mono<String> lock(@PathVariable String id) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/dedup/{id}")
	@Idempotent(mode = IdempotencyMode.REJECT, key = "{#userId, #productId}", retention = "1m")
	Mono<String> dedup(@PathVariable String id, @RequestParam String userId, @RequestParam String productId) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/sources/{id}")
	@Idempotent(key = "{header('X-Source'), header('X-Sequence')}", scope = "header('X-Source')")
	Mono<String> source(@PathVariable String id) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

}
