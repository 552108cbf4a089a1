package io.idempotency.benchmarks.application;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.data.redis.core.ReactiveStringRedisTemplate;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** What a guard by hand costs at least, on WebFlux. */
@RestController
@ConditionalOnProperty(name = "idempotency.store", havingValue = "redis")
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
class ReactiveRedisController {

	private static final Duration DAY = Duration.ofDays(1);

	private final ReactiveStringRedisTemplate redis;

	ReactiveRedisController(ReactiveStringRedisTemplate redis) {
		this.redis = redis;
	}

	@PostMapping("/raw")
	@ResponseStatus(HttpStatus.CREATED)
	Mono<Payment> raw(@RequestBody Mono<Payment> payment, @RequestHeader("Idempotency-Key") String key) {
		String name = "raw:" + key;
		String answer = new String(new byte[200], StandardCharsets.US_ASCII);
		return this.redis.opsForValue()
			.setIfAbsent(name, "running", DAY)
			.then(payment)
			.flatMap((paid) -> this.redis.opsForValue().set(name, answer, DAY).thenReturn(paid));
	}

}
