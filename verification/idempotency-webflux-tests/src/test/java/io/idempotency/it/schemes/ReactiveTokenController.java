package io.idempotency.it.schemes;

import java.util.Map;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Issued tokens, in every place. */
@RestController
@RequestMapping("/tokens/{id}")
class ReactiveTokenController {

	private final Effects effects;

	private final SchemeMethods methods;

	ReactiveTokenController(Effects effects, SchemeMethods methods) {
		this.effects = effects;
		this.methods = methods;
	}

	@PostMapping
	@Idempotent(token = true)
	Mono<String> header(@PathVariable String id) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/elsewhere")
	@Idempotent(token = true)
	Mono<String> elsewhere(@PathVariable String id) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/form")
	@Idempotent(token = true, body = "token")
	Mono<String> form(@PathVariable String id, Item item) {
		return Mono.fromCallable(() -> item.sku() + " " + this.effects.of(id).run())
			.subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/json")
	@Idempotent(token = true, body = "/meta/token")
	Mono<String> json(@PathVariable String id, @RequestBody Map<String, Object> body) {
		return Mono.fromCallable(() -> body.get("sku") + " " + this.effects.of(id).run())
			.subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/remember")
	@Idempotent(token = true, onFailure = FailureMode.REMEMBER)
	Mono<String> remember(@PathVariable String id) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/once")
	@Idempotent(token = true, mode = IdempotencyMode.REJECT)
	Mono<String> once(@PathVariable String id) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/lock")
	@Idempotent(token = true, mode = IdempotencyMode.LOCK)
	Mono<String> lock(@PathVariable String id) {
		return Mono.fromCallable(() -> this.effects.of(id).run()).subscribeOn(Schedulers.boundedElastic());
	}

	@PostMapping("/method")
	String method(@PathVariable String id, @RequestHeader("Idempotency-Key") String token) {
		return this.methods.token(token, id);
	}

	/** A form that every stack binds. */
	record Item(String sku) {
	}

}
