package io.idempotency.protocol;

import java.time.Duration;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.StoreFailureMode;
import org.jspecify.annotations.Nullable;

/**
 * The resolved settings of an operation: no {@code DEFAULT} is left in them.
 *
 * @param operation name of the operation
 * @param mode what a duplicate gets
 * @param retention how long the result is kept, positive
 * @param lease how long a claim lives without renewal, positive
 * @param renewal whether the claim of a running call is renewed every third of the lease
 * @param conflict what a duplicate gets while the first call runs
 * @param waitTimeout upper bound of {@link ConflictMode#WAIT}, positive
 * @param onFailure what happens to the key when the call has failed
 * @param onAbandoned what a later call does when the owner died
 * @param recoverable whether a result can be looked up in the business data; an abandoned
 * claim is then taken over even if {@code onAbandoned} refuses that
 * @param keepsResult whether the result of a call that is done is kept in mode
 * {@code REPLAY}; if not, a tombstone is kept
 * @param onStoreFailure what a call does when the store cannot be reached
 * @hidden
 */
@Internal
public record IdempotencyPolicy(String operation, IdempotencyMode mode, Duration retention, Duration lease,
		boolean renewal, ConflictMode conflict, Duration waitTimeout, FailureMode onFailure, AbandonedMode onAbandoned,
		boolean recoverable, boolean keepsResult, StoreFailureMode onStoreFailure) {

	/** The defaults of {@code idempotency.*}, for no operation in particular. */
	public static final IdempotencyPolicy DEFAULTS = new IdempotencyPolicy("default", IdempotencyMode.REPLAY,
			Duration.ofHours(24), Duration.ofSeconds(30), true, ConflictMode.REJECT, Duration.ofSeconds(5),
			FailureMode.RELEASE, AbandonedMode.RERUN, false, true, StoreFailureMode.REJECT);

	/**
	 * Validates the components.
	 */
	public IdempotencyPolicy {
		if (operation.isEmpty()) {
			throw new IllegalArgumentException("operation must not be empty");
		}
		requirePositive("retention", retention);
		requirePositive("lease", lease);
		requirePositive("waitTimeout", waitTimeout);
		if (conflict == ConflictMode.DEFAULT || onFailure == FailureMode.DEFAULT) {
			throw new IllegalArgumentException("A policy must be resolved: no DEFAULT may be left in it");
		}
	}

	private static void requirePositive(String name, Duration duration) {
		if (duration.isZero() || duration.isNegative()) {
			throw new IllegalArgumentException(name + " must be positive, not " + duration);
		}
	}

	/** Returns a builder that starts with the values of this policy. */
	public Builder change() {
		return new Builder(this);
	}

	/**
	 * Returns whether duplicates get the first result.
	 * @return whether the mode replays results and results are kept
	 */
	public boolean replays() {
		return this.mode == IdempotencyMode.REPLAY && this.keepsResult;
	}

	boolean mayTakeOver() {
		return this.recoverable || this.onAbandoned == AbandonedMode.RERUN;
	}

	/**
	 * Changes some values of a policy: a {@code DEFAULT} or {@code null} leaves a value
	 * as it is. For one thread.
	 *
	 * @hidden
	 */
	public static final class Builder {

		private String operation;

		private IdempotencyMode mode;

		private Duration retention;

		private Duration lease;

		private boolean renewal;

		private ConflictMode conflict;

		private Duration waitTimeout;

		private FailureMode onFailure;

		private AbandonedMode onAbandoned;

		private boolean recoverable;

		private boolean keepsResult;

		private StoreFailureMode onStoreFailure;

		private Builder(IdempotencyPolicy from) {
			this.operation = from.operation;
			this.mode = from.mode;
			this.retention = from.retention;
			this.lease = from.lease;
			this.renewal = from.renewal;
			this.conflict = from.conflict;
			this.waitTimeout = from.waitTimeout;
			this.onFailure = from.onFailure;
			this.onAbandoned = from.onAbandoned;
			this.recoverable = from.recoverable;
			this.keepsResult = from.keepsResult;
			this.onStoreFailure = from.onStoreFailure;
		}

		public Builder operation(String value) {
			this.operation = value;
			return this;
		}

		public Builder mode(IdempotencyMode value) {
			this.mode = value;
			return this;
		}

		public Builder retention(@Nullable Duration value) {
			this.retention = (value != null) ? value : this.retention;
			return this;
		}

		public Builder lease(@Nullable Duration value) {
			this.lease = (value != null) ? value : this.lease;
			return this;
		}

		public Builder renewal(boolean value) {
			this.renewal = value;
			return this;
		}

		public Builder conflict(ConflictMode value) {
			this.conflict = (value != ConflictMode.DEFAULT) ? value : this.conflict;
			return this;
		}

		public Builder waitTimeout(@Nullable Duration value) {
			this.waitTimeout = (value != null) ? value : this.waitTimeout;
			return this;
		}

		public Builder onFailure(FailureMode value) {
			this.onFailure = (value != FailureMode.DEFAULT) ? value : this.onFailure;
			return this;
		}

		public Builder onAbandoned(AbandonedMode value) {
			this.onAbandoned = value;
			return this;
		}

		public Builder recoverable(boolean value) {
			this.recoverable = value;
			return this;
		}

		public Builder keepsResult(boolean value) {
			this.keepsResult = value;
			return this;
		}

		public Builder onStoreFailure(StoreFailureMode value) {
			this.onStoreFailure = value;
			return this;
		}

		/**
		 * Builds the policy.
		 * @throws IllegalArgumentException if a value is not valid; the message names it
		 */
		public IdempotencyPolicy build() {
			return new IdempotencyPolicy(this.operation, this.mode, this.retention, this.lease, this.renewal,
					this.conflict, this.waitTimeout, this.onFailure, this.onAbandoned, this.recoverable,
					this.keepsResult, this.onStoreFailure);
		}

	}

}
