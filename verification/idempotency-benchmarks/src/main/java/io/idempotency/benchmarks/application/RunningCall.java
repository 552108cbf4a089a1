package io.idempotency.benchmarks.application;

import java.util.concurrent.Semaphore;

import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A call that runs until somebody says that it shall end. */
@RestController
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
class RunningCall {

	private final Semaphore begun = new Semaphore(0);

	private final Semaphore ended = new Semaphore(0);

	void run() throws InterruptedException {
		this.begun.release();
		this.ended.acquire();
	}

	/** Answers as soon as it runs. */
	@GetMapping("/begun")
	void begun() throws InterruptedException {
		this.begun.acquire();
	}

	@GetMapping("/end")
	void end() {
		this.ended.release();
	}

}
