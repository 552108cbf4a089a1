package io.idempotency.benchmarks.application;

import io.idempotency.Idempotent;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The least that a handler of WebFlux can do. */
@RestController
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
class ReactiveController {

	@PostMapping("/plain")
	@ResponseStatus(HttpStatus.CREATED)
	Mono<Payment> plain(@RequestBody Mono<Payment> payment) {
		return payment;
	}

	@Idempotent
	@PostMapping("/guarded")
	@ResponseStatus(HttpStatus.CREATED)
	Mono<Payment> guarded(@RequestBody Mono<Payment> payment) {
		return payment;
	}

}
