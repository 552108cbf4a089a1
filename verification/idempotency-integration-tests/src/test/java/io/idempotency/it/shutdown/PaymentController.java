package io.idempotency.it.shutdown;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

import io.idempotency.Idempotent;

import org.springframework.core.env.Environment;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Pays, and then has something else to do for a while. */
@RestController
class PaymentController {

	private final Path payments;

	private final Duration rest;

	PaymentController(Environment environment) {
		this.payments = Path.of(environment.getRequiredProperty("test.payments"));
		this.rest = environment.getRequiredProperty("test.rest", Duration.class);
	}

	@GetMapping("/ready")
	String ready() {
		return "ready";
	}

	@PostMapping("/payments")
	@ResponseStatus(HttpStatus.CREATED)
	@Idempotent
	String pay(@RequestHeader("Idempotency-Key") String key) throws IOException {
		// One write to the end of the file: the lines of two threads never mix.
		Files.writeString(this.payments, key + "\n", StandardOpenOption.APPEND);
		long end = System.nanoTime() + this.rest.toNanos();
		while (System.nanoTime() - end < 0) {
			LockSupport.parkNanos(end - System.nanoTime());
		}
		return "payment " + UUID.randomUUID();
	}

}
