package io.idempotency.benchmarks.application;

import com.pig4cloud.plugin.idempotent.annotation.Idempotent;
import com.pig4cloud.plugin.idempotent.exception.IdempotentException;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * A handler behind the starter of pig4cloud: it keeps the key for a day and no answer, so
 * that each duplicate is rejected.
 */
@RestController
@Profile(LoadApplication.PIG4CLOUD)
class Pig4cloudController {

	private static final int DAY = 24 * 60 * 60;

	private final RunningCall running;

	Pig4cloudController(RunningCall running) {
		this.running = running;
	}

	/** Not that of Redisson's starter, which would be beneath all of the application. */
	@Bean(destroyMethod = "shutdown")
	static RedissonClient redisson(@Value("${spring.data.redis.port}") int port) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		return Redisson.create(config);
	}

	@Idempotent(key = "#key", expireTime = DAY)
	@PostMapping("/kept-key")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment keptKey(@RequestBody Payment payment, @RequestHeader("Idempotency-Key") String key) {
		return payment;
	}

	@Idempotent(key = "#key", expireTime = DAY)
	@PostMapping("/kept-key-running")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment keptKeyRunning(@RequestBody Payment payment, @RequestHeader("Idempotency-Key") String key)
			throws InterruptedException {
		this.running.run();
		return payment;
	}

	@ExceptionHandler(IdempotentException.class)
	@ResponseStatus(HttpStatus.CONFLICT)
	void rejected() {
		// The status is the answer.
	}

}
