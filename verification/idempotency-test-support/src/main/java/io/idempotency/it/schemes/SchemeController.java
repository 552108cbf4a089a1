package io.idempotency.it.schemes;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** The other schemes, by the HTTP adapter. */
@RestController
class SchemeController {

	private final Effects effects;

	SchemeController(Effects effects) {
		this.effects = effects;
	}

	@PostMapping("/pages/{id}")
	@Idempotent(mode = IdempotencyMode.REJECT, body = "pageId")
	String page(@PathVariable String id) {
		return this.effects.of(id).run();
	}

	@PostMapping("/pages/{id}/remember")
	@Idempotent(mode = IdempotencyMode.REJECT, body = "pageId", onFailure = FailureMode.REMEMBER)
	String rememberedPage(@PathVariable String id) {
		return this.effects.of(id).run();
	}

	@PostMapping("/locks/{id}")
	@Idempotent(mode = IdempotencyMode.LOCK, key = "#id", lease = "9s")
	String lock(@PathVariable String id) {
		return this.effects.of(id).run();
	}

	@PostMapping("/dedup/{id}")
	@Idempotent(mode = IdempotencyMode.REJECT, key = "{#userId, #productId}", retention = "1m")
	String dedup(@PathVariable String id, @RequestParam String userId, @RequestParam String productId) {
		return this.effects.of(id).run();
	}

	@PostMapping("/sources/{id}")
	@Idempotent(key = "{header('X-Source'), header('X-Sequence')}", scope = "header('X-Source')")
	String source(@PathVariable String id) {
		return this.effects.of(id).run();
	}

}
