package io.idempotency.it.schemes;

import java.util.concurrent.CompletableFuture;

import io.idempotency.AbandonedMode;
import io.idempotency.Idempotent;
import org.jspecify.annotations.Nullable;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** What the business data knows of a call, by the HTTP adapter. */
@RestController
class RecoveryController {

	private final Effects effects;

	RecoveryController(Effects effects) {
		this.effects = effects;
	}

	@PostMapping("/indexed/{id}")
	@Idempotent(duplicateOn = AlreadyThereException.class)
	ResponseEntity<String> indexed(@PathVariable String id) {
		return ResponseEntity.status(201).body(this.effects.of(id).run());
	}

	@PostMapping("/indexed/{id}/recover")
	@Idempotent(duplicateOn = AlreadyThereException.class, recover = "find")
	ResponseEntity<String> recovered(@PathVariable String id) {
		return ResponseEntity.status(201).body(this.effects.of(id).run());
	}

	@PostMapping("/indexed/{id}/later")
	@Idempotent(duplicateOn = AlreadyThereException.class)
	CompletableFuture<ResponseEntity<String>> indexedLater(@PathVariable String id) {
		return CompletableFuture.supplyAsync(() -> indexed(id));
	}

	@PostMapping("/indexed/{id}/recover-later")
	@Idempotent(duplicateOn = AlreadyThereException.class, recover = "find")
	CompletableFuture<ResponseEntity<String>> recoveredLater(@PathVariable String id) {
		return CompletableFuture.supplyAsync(() -> recovered(id));
	}

	@Nullable ResponseEntity<String> find(String id) {
		String found = this.effects.of(id).find();
		return (found != null) ? ResponseEntity.status(201).body(found) : null;
	}

	@PostMapping("/abandoned/{id}/rerun")
	@Idempotent
	ResponseEntity<String> rerun(@PathVariable String id) {
		return ResponseEntity.status(201).body(this.effects.of(id).run());
	}

	@PostMapping("/abandoned/{id}/reject")
	@Idempotent(onAbandoned = AbandonedMode.REJECT)
	ResponseEntity<String> reject(@PathVariable String id) {
		return ResponseEntity.status(201).body(this.effects.of(id).run());
	}

	@PostMapping("/abandoned/{id}/recover")
	@Idempotent(onAbandoned = AbandonedMode.REJECT, recover = "find")
	ResponseEntity<String> recover(@PathVariable String id) {
		return ResponseEntity.status(201).body(this.effects.of(id).run());
	}

}
