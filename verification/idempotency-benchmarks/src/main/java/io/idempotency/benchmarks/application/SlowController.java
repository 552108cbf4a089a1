package io.idempotency.benchmarks.application;

import io.idempotency.ConflictMode;
import io.idempotency.Idempotent;

import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** A handler that takes a while, for whose answer duplicates wait. */
@RestController
@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
class SlowController {

	@Idempotent(conflict = ConflictMode.WAIT)
	@PostMapping("/slow")
	@ResponseStatus(HttpStatus.CREATED)
	Payment slow(@RequestBody Payment payment, @RequestParam long millis) throws InterruptedException {
		Thread.sleep(millis);
		return payment;
	}

}
