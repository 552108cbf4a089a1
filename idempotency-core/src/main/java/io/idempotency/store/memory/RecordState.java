package io.idempotency.store.memory;

import java.time.Duration;

import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;

/**
 * One row of the state table: what each verb makes of a record in this state. Immutable;
 * every method is pure but for the fence it may draw.
 */
sealed interface RecordState permits Unclaimed, Running, Executed, Done, Once {

	/**
	 * When the record is gone, in microseconds.
	 */
	long expiresAt();

	Step<ClaimResult> claim(ClaimRequest request, Moment moment);

	Step<Boolean> complete(Completion completion, Moment moment);

	Step<Boolean> release(ClaimId claimId, Moment moment);

	Step<Boolean> renew(ClaimId claimId, Duration lease, Moment moment);

	/**
	 * Issues a token.
	 * @return the step, its answer is when the record is gone
	 */
	default Step<Long> issue(Duration timeToLive, Moment moment) {
		return stay(expiresAt());
	}

	/**
	 * Whether it is a token that nobody uses: it may only take a share of the room.
	 */
	default boolean isUnusedToken() {
		return false;
	}

	/**
	 * What the result takes, zero without one.
	 */
	default long resultBytes() {
		return 0;
	}

	/**
	 * This record as a tombstone if it has a result, else as it is.
	 */
	default RecordState withoutResult() {
		return this;
	}

	default <T> Step<T> stay(T answer) {
		return new Step<>(this, answer);
	}

}
