package io.idempotency.benchmarks.application;

import com.baomidou.lock.annotation.Lock4j;
import com.baomidou.lock.spring.boot.autoconfigure.LockAutoConfiguration;
import com.baomidou.lock.spring.boot.autoconfigure.RedisTemplateLockAutoConfiguration;

import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * A handler behind lock4j: two commands on Redis, as a guard needs, but no answer is kept
 * and no duplicate is told from another call once the lock is free.
 */
@RestController
@Profile(LoadApplication.PEER)
@Import({ RedisTemplateLockAutoConfiguration.class, LockAutoConfiguration.class })
class PeerController {

	@Lock4j(keys = "#key")
	@PostMapping("/locked")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment locked(@RequestBody Payment payment, @RequestHeader("Idempotency-Key") String key) {
		return payment;
	}

}
