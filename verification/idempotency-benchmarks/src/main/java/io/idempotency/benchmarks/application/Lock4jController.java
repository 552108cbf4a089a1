package io.idempotency.benchmarks.application;

import com.baomidou.lock.annotation.Lock4j;
import com.baomidou.lock.exception.LockFailureException;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ExceptionHandler;
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
@Profile(LoadApplication.LOCK4J)
class Lock4jController {

	private final RunningCall running;

	Lock4jController(RunningCall running) {
		this.running = running;
	}

	@Lock4j(keys = "#key")
	@PostMapping("/locked")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment locked(@RequestBody Payment payment, @RequestHeader("Idempotency-Key") String key) {
		return payment;
	}

	/** A duplicate is told not to wait for the lock. */
	@Lock4j(keys = "#key", acquireTimeout = 0)
	@PostMapping("/locked-running")
	@ResponseStatus(HttpStatus.CREATED)
	public Payment lockedRunning(@RequestBody Payment payment, @RequestHeader("Idempotency-Key") String key)
			throws InterruptedException {
		this.running.run();
		return payment;
	}

	@ExceptionHandler(LockFailureException.class)
	@ResponseStatus(HttpStatus.CONFLICT)
	void rejected() {
		// The status is the answer.
	}

}
