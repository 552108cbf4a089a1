package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import io.idempotency.FailureMode;
import io.idempotency.Idempotent;
import jakarta.validation.ConstraintViolationException;
import jakarta.validation.constraints.Min;

import org.springframework.http.ResponseEntity;
import org.springframework.validation.annotation.Validated;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Validated by advice, which is asked behind the guard. */
@RestController
@RequestMapping("/validated")
@Validated
class ValidatedController {

	private final Runs runs;

	ValidatedController(Runs runs) {
		this.runs = runs;
	}

	@PostMapping
	@Idempotent
	public String book(@RequestParam @Min(1) int nights) {
		return nights + " nights in run " + this.runs.run("/validated");
	}

	@PostMapping("/remembering")
	@Idempotent(onFailure = FailureMode.REMEMBER)
	public String remembering(@RequestParam @Min(1) int nights) {
		return nights + " nights in run " + this.runs.run("/validated/remembering");
	}

	/** What the method itself rejects, it may have done something before. */
	@PostMapping("/inside")
	@Idempotent
	public String inside(@RequestParam int nights) {
		this.runs.run("/validated/inside");
		throw new ConstraintViolationException("too late", null);
	}

	@ExceptionHandler
	ResponseEntity<String> rejected(ConstraintViolationException ex) {
		return ResponseEntity.badRequest().body(ex.getMessage());
	}

}
