package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.StoreFailureMode;

/**
 * What an operation wants, resolved once at start-up: no {@code DEFAULT} is left in it.
 *
 * @param operation name of the operation
 * @param mode what a duplicate gets
 * @param retention how long the result is kept, positive
 * @param lease how long a claim lives without renewal, positive
 * @param renewal whether the claim of a running call is renewed every third of the lease
 * @param conflict what a duplicate gets while the first call runs
 * @param waitTimeout upper bound of {@link ConflictMode#WAIT}, positive
 * @param onFailure what becomes of the key when the call failed
 * @param onAbandoned what a later call does when the owner died
 * @param recoverable whether a result can be looked up in the business data; an abandoned
 * claim is then taken over whatever {@code onAbandoned} says
 * @param keepsResult whether the result of a call that is done is kept in mode
 * {@code REPLAY}; without it a tombstone is
 * @param onStoreFailure what a call does when the store cannot be reached
 * @since 0.1.0
 */
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

	/**
	 * Whether duplicates get the first result.
	 * @return whether the mode replays results, and they are kept
	 */
	public boolean replays() {
		return this.mode == IdempotencyMode.REPLAY && this.keepsResult;
	}

	boolean mayTakeOver() {
		return this.recoverable || this.onAbandoned == AbandonedMode.RERUN;
	}

}
