package io.idempotency.it.schemes;

import java.util.Map;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/** Issued tokens, in every place. */
@RestController
@RequestMapping("/tokens/{id}")
class TokenController {

	private final Effects effects;

	private final SchemeMethods methods;

	TokenController(Effects effects, SchemeMethods methods) {
		this.effects = effects;
		this.methods = methods;
	}

	@PostMapping
	@Idempotent(token = true)
	String header(@PathVariable String id) {
		return this.effects.of(id).run();
	}

	@PostMapping("/elsewhere")
	@Idempotent(token = true)
	String elsewhere(@PathVariable String id) {
		return this.effects.of(id).run();
	}

	@PostMapping("/form")
	@Idempotent(token = true, body = "token")
	String form(@PathVariable String id, Item item) {
		return item.sku() + " " + this.effects.of(id).run();
	}

	@PostMapping("/json")
	@Idempotent(token = true, body = "/meta/token")
	String json(@PathVariable String id, @RequestBody Map<String, Object> body) {
		return body.get("sku") + " " + this.effects.of(id).run();
	}

	@PostMapping("/remember")
	@Idempotent(token = true, onFailure = FailureMode.REMEMBER)
	String remember(@PathVariable String id) {
		return this.effects.of(id).run();
	}

	@PostMapping("/once")
	@Idempotent(token = true, mode = IdempotencyMode.REJECT)
	String once(@PathVariable String id) {
		return this.effects.of(id).run();
	}

	@PostMapping("/lock")
	@Idempotent(token = true, mode = IdempotencyMode.LOCK)
	String lock(@PathVariable String id) {
		return this.effects.of(id).run();
	}

	@PostMapping("/method")
	String method(@PathVariable String id, @RequestHeader("Idempotency-Key") String token) {
		return this.methods.token(token, id);
	}

	/** A form that every stack binds. */
	record Item(String sku) {
	}

}
