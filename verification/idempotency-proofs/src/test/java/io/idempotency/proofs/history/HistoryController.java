package io.idempotency.proofs.history;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Idempotent;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** One handler for each {@link Operation} that every store has. */
@RestController
class HistoryController {

	private static final String KEY = "Idempotency-Key";

	private final HistoryWork work;

	HistoryController(HistoryWork work) {
		this.work = work;
	}

	@GetMapping("/ready")
	String ready() {
		return "ready";
	}

	@PostMapping("/replay")
	@Idempotent(operation = "replay")
	ResponseEntity<byte[]> replay(@RequestHeader(KEY) String key, @RequestBody String variant) {
		return run(Operation.REPLAY, key, variant);
	}

	@PostMapping("/wait")
	@Idempotent(operation = "wait", conflict = ConflictMode.WAIT)
	ResponseEntity<byte[]> waitForTheFirst(@RequestHeader(KEY) String key, @RequestBody String variant) {
		return run(Operation.WAIT, key, variant);
	}

	@PostMapping("/reject")
	@Idempotent(operation = "reject", onAbandoned = AbandonedMode.REJECT)
	ResponseEntity<byte[]> reject(@RequestHeader(KEY) String key, @RequestBody String variant) {
		return run(Operation.REJECT, key, variant);
	}

	@PostMapping("/once")
	@Idempotent(operation = "once", mode = IdempotencyMode.REJECT)
	ResponseEntity<byte[]> once(@RequestHeader(KEY) String key, @RequestBody String variant) {
		return run(Operation.ONCE, key, variant);
	}

	@PostMapping("/lock")
	@Idempotent(operation = "lock", mode = IdempotencyMode.LOCK)
	ResponseEntity<byte[]> lock(@RequestHeader(KEY) String key, @RequestBody String variant) {
		return run(Operation.LOCK, key, variant);
	}

	private ResponseEntity<byte[]> run(Operation operation, String key, String variant) {
		return this.work.run(operation, key, variant, (run) -> {
		});
	}

}
