package io.idempotency.proofs.simulation;

import java.time.Duration;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.StoreFailureMode;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;

/**
 * One key, and the options of its operation.
 *
 * @param key the key
 * @param options the options
 */
record KeyPlan(IdempotencyKey key, IdempotencyOptions options) {

	static KeyPlan of(Chance chance, int number) {
		String operation = "operation-" + number;
		boolean reject = chance.hits(0.1, "reject", number);
		IdempotencyMode other = chance.hits(0.1, "lock", number) ? IdempotencyMode.LOCK : IdempotencyMode.REPLAY;
		IdempotencyOptions options = IdempotencyOptions.DEFAULTS.change()
			.operation(operation)
			.mode(reject ? IdempotencyMode.REJECT : other)
			.lease(Duration.ofSeconds(chance.hits(0.5, "lease", number) ? 2 : 9))
			.conflict(chance.hits(0.5, "wait", number) ? ConflictMode.WAIT : ConflictMode.REJECT)
			.waitTimeout(Duration.ofSeconds(3))
			.onFailure(chance.hits(0.2, "remember", number) ? FailureMode.REMEMBER : FailureMode.RELEASE)
			.onAbandoned(chance.hits(0.2, "reject", number) ? AbandonedMode.REJECT : AbandonedMode.RERUN)
			.recoverable(chance.hits(0.3, "recover", number))
			.onStoreFailure(chance.hits(0.1, "proceed", number) ? StoreFailureMode.PROCEED : StoreFailureMode.REJECT)
			.build();
		return new KeyPlan(IdempotencyKey.of(operation, Caller.GLOBAL, "key"), options);
	}

	long lease() {
		return this.options.lease().toNanos();
	}

	boolean mode(IdempotencyMode mode) {
		return this.options.mode() == mode;
	}

}
