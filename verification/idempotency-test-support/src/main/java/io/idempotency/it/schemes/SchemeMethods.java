package io.idempotency.it.schemes;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

import org.springframework.stereotype.Service;

/** The schemes by the method adapter. */
@Service
class SchemeMethods {

	private final Effects effects;

	SchemeMethods(Effects effects) {
		this.effects = effects;
	}

	@Idempotent(key = "#token", token = true)
	String token(String token, String id) {
		return this.effects.of(id).run();
	}

	@Idempotent(key = "#id", mode = IdempotencyMode.REJECT)
	String once(String id) {
		return this.effects.of(id).run();
	}

	@Idempotent(key = "#id", mode = IdempotencyMode.REJECT, onFailure = FailureMode.REMEMBER)
	String onceRemembered(String id) {
		return this.effects.of(id).run();
	}

	@Idempotent(key = "#id", onFailure = FailureMode.REMEMBER)
	String remembered(String id) {
		return this.effects.of(id).run();
	}

	@Idempotent(key = "#id", mode = IdempotencyMode.LOCK, lease = "9s")
	String lock(String id) {
		return this.effects.of(id).run();
	}

	@Idempotent(key = "{#userId, #productId}", mode = IdempotencyMode.REJECT, retention = "1m")
	String dedup(String userId, String productId, String id) {
		return this.effects.of(id).run();
	}

	@Idempotent(key = "#sequence", scope = "#source")
	String source(String source, long sequence, String id) {
		return this.effects.of(id).run();
	}

}
