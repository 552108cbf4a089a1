package io.idempotency.benchmarks.application;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * What a guard by hand costs at least: one command to claim and one to complete, and one
 * command to replay.
 */
@RestController
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
@ConditionalOnProperty(name = "idempotency.store", havingValue = "redis")
class RedisController {

	private static final Duration DAY = Duration.ofDays(1);

	private final StringRedisTemplate redis;

	RedisController(StringRedisTemplate redis) {
		this.redis = redis;
	}

	@PostMapping("/raw")
	@ResponseStatus(HttpStatus.CREATED)
	Payment raw(@RequestBody Payment payment, @RequestHeader("Idempotency-Key") String key) {
		String name = "raw:" + key;
		this.redis.opsForValue().setIfAbsent(name, "running", DAY);
		String answer = new String(new byte[200], StandardCharsets.US_ASCII);
		this.redis.opsForValue().set(name, answer, DAY);
		return payment;
	}

	@PostMapping("/raw-replay")
	@ResponseStatus(HttpStatus.CREATED)
	String rawReplay() {
		String answer = this.redis.opsForValue().get("raw-replay");
		if (answer == null) {
			answer = "x".repeat(250);
			this.redis.opsForValue().set("raw-replay", answer, DAY);
		}
		return answer;
	}

}
