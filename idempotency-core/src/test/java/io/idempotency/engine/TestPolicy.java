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

	private String operation = OPERATION;

	private IdempotencyMode mode = IdempotencyMode.REPLAY;

	private Duration retention = Duration.ofHours(24);

	private Duration lease = Duration.ofSeconds(30);

	private boolean renewal = true;

	private ConflictMode conflict = ConflictMode.REJECT;

	private Duration waitTimeout = Duration.ofSeconds(5);

	private FailureMode onFailure = FailureMode.RELEASE;

	private AbandonedMode onAbandoned = AbandonedMode.RERUN;

	private boolean recoverable;

	private boolean keepsResult = true;

	private StoreFailureMode onStoreFailure = StoreFailureMode.REJECT;

	static TestPolicy replay() {
		return new TestPolicy();
	}

	static TestPolicy mode(IdempotencyMode mode) {
		TestPolicy policy = new TestPolicy();
		policy.mode = mode;
		return policy;
	}

	TestPolicy operation(String operation) {
		this.operation = operation;
		return this;
	}

	TestPolicy retention(Duration retention) {
		this.retention = retention;
		return this;
	}

	TestPolicy lease(Duration lease) {
		this.lease = lease;
		return this;
	}

	TestPolicy withoutRenewal() {
		this.renewal = false;
		return this;
	}

	TestPolicy waiting() {
		this.conflict = ConflictMode.WAIT;
		return this;
	}

	TestPolicy waiting(Duration waitTimeout) {
		this.waitTimeout = waitTimeout;
		return waiting();
	}

	TestPolicy remembering() {
		this.onFailure = FailureMode.REMEMBER;
		return this;
	}

	TestPolicy refusing() {
		this.onAbandoned = AbandonedMode.REFUSE;
		return this;
	}

	TestPolicy recoverable() {
		this.recoverable = true;
		return this;
	}

	TestPolicy unkept() {
		this.keepsResult = false;
		return this;
	}

	TestPolicy proceeding() {
		this.onStoreFailure = StoreFailureMode.PROCEED;
		return this;
	}

	IdempotencyPolicy build() {
		return new IdempotencyPolicy(this.operation, this.mode, this.retention, this.lease, this.renewal, this.conflict,
				this.waitTimeout, this.onFailure, this.onAbandoned, this.recoverable, this.keepsResult,
				this.onStoreFailure);
	}

}
