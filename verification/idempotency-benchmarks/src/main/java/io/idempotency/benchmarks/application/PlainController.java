package io.idempotency.benchmarks.application;

import io.idempotency.Idempotent;

import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The least that a handler can do, so that all the rest is the guard's. */
@RestController
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
class PlainController {

	private static final Payment READ = new Payment("DE02", 1250, "x".repeat(200));

	private final RunningCall running;

	PlainController(RunningCall running) {
		this.running = running;
	}

	@GetMapping("/plain")
	Payment read() {
		return READ;
	}

	@PostMapping("/plain")
	@ResponseStatus(HttpStatus.CREATED)
	Payment plain(@RequestBody Payment payment) {
		return payment;
	}

	@Idempotent
	@PostMapping("/guarded")
	@ResponseStatus(HttpStatus.CREATED)
	Payment guarded(@RequestBody Payment payment) {
		return payment;
	}

	@Idempotent
	@PostMapping("/guarded-running")
	@ResponseStatus(HttpStatus.CREATED)
	Payment guardedRunning(@RequestBody Payment payment) throws InterruptedException {
		this.running.run();
		return payment;
	}

	/** For the {@linkplain FilterByHand filter}. */
	@PostMapping("/filtered")
	@ResponseStatus(HttpStatus.CREATED)
	Payment filtered(@RequestBody Payment payment) {
		return payment;
	}

	@PostMapping("/filtered-running")
	@ResponseStatus(HttpStatus.CREATED)
	Payment filteredRunning(@RequestBody Payment payment) throws InterruptedException {
		this.running.run();
		return payment;
	}

}
