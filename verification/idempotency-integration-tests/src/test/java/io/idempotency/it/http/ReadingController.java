package io.idempotency.it.http;

import io.idempotency.it.scenarios.Runs;
import io.idempotency.Idempotent;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** What is not guarded, or only because its method says so. */
@RestController
@Idempotent
class ReadingController {

	private final Runs runs;

	ReadingController(Runs runs) {
		this.runs = runs;
	}

	@GetMapping("/reading/class-level")
	public String classLevel() {
		return "run " + this.runs.run("/reading/class-level");
	}

	@GetMapping("/reading/method-level")
	@Idempotent
	public String methodLevel() {
		return "run " + this.runs.run("/reading/method-level");
	}

	@RequestMapping("/reading/any-method")
	public String anyMethod() {
		return "run " + this.runs.run("/reading/any-method");
	}

	@PostMapping("/answers/forwarded")
	public String forwarded() {
		return "forwarded";
	}

}
