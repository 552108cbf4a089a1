package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.StoreFailureMode;

/** Builds a policy from the defaults. */
public final class TestPolicy {

	public static final String OPERATION = "orders.create";

	private final IdempotencyOptions.Builder policy = IdempotencyOptions.DEFAULTS.change().operation(OPERATION);

	public static TestPolicy replay() {
		return new TestPolicy();
	}

	public static TestPolicy mode(IdempotencyMode mode) {
		TestPolicy policy = new TestPolicy();
		policy.policy.mode(mode);
		return policy;
	}

	public TestPolicy operation(String operation) {
		this.policy.operation(operation);
		return this;
	}

	public TestPolicy retention(Duration retention) {
		this.policy.retention(retention);
		return this;
	}

	public TestPolicy lease(Duration lease) {
		this.policy.lease(lease);
		return this;
	}

	public TestPolicy withoutRenewal() {
		this.policy.renewal(false);
		return this;
	}

	public TestPolicy waiting() {
		this.policy.conflict(ConflictMode.WAIT);
		return this;
	}

	public TestPolicy waiting(Duration waitTimeout) {
		this.policy.waitTimeout(waitTimeout);
		return waiting();
	}

	public TestPolicy remembering() {
		this.policy.onFailure(FailureMode.REMEMBER);
		return this;
	}

	public TestPolicy rejecting() {
		this.policy.onAbandoned(AbandonedMode.REJECT);
		return this;
	}

	public TestPolicy recoverable() {
		this.policy.recoverable(true);
		return this;
	}

	public TestPolicy unkept() {
		this.policy.keepResult(false);
		return this;
	}

	public TestPolicy proceeding() {
		this.policy.onStoreFailure(StoreFailureMode.PROCEED);
		return this;
	}

	public IdempotencyOptions build() {
		return this.policy.build();
	}

}
