package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.StoreFailureMode;

/** Builds a policy from the defaults. */
final class TestPolicy {

	static final String OPERATION = "orders.create";

	private final IdempotencyPolicy.Builder policy = IdempotencyPolicy.DEFAULTS.change().operation(OPERATION);

	static TestPolicy replay() {
		return new TestPolicy();
	}

	static TestPolicy mode(IdempotencyMode mode) {
		TestPolicy policy = new TestPolicy();
		policy.policy.mode(mode);
		return policy;
	}

	TestPolicy operation(String operation) {
		this.policy.operation(operation);
		return this;
	}

	TestPolicy retention(Duration retention) {
		this.policy.retention(retention);
		return this;
	}

	TestPolicy lease(Duration lease) {
		this.policy.lease(lease);
		return this;
	}

	TestPolicy withoutRenewal() {
		this.policy.renewal(false);
		return this;
	}

	TestPolicy waiting() {
		this.policy.conflict(ConflictMode.WAIT);
		return this;
	}

	TestPolicy waiting(Duration waitTimeout) {
		this.policy.waitTimeout(waitTimeout);
		return waiting();
	}

	TestPolicy remembering() {
		this.policy.onFailure(FailureMode.REMEMBER);
		return this;
	}

	TestPolicy refusing() {
		this.policy.onAbandoned(AbandonedMode.REFUSE);
		return this;
	}

	TestPolicy recoverable() {
		this.policy.recoverable(true);
		return this;
	}

	TestPolicy unkept() {
		this.policy.keepsResult(false);
		return this;
	}

	TestPolicy proceeding() {
		this.policy.onStoreFailure(StoreFailureMode.PROCEED);
		return this;
	}

	IdempotencyPolicy build() {
		return this.policy.build();
	}

}
