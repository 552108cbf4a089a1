package io.idempotency.engine;

import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.store.ClaimResult;

/**
 * What a call does next on its way to its answer, as {@link Admission} has decided it.
 *
 * @hidden
 */
@Internal
public sealed interface Move {

	/** The claim is sent. */
	Move SEND = new Send(false);

	/** The claim is sent once more, because its reply was lost. */
	Move SEND_AGAIN = new Send(true);

	/** See {@link GoOn}. */
	Move GO_ON = new GoOn();

	/** See {@link Renew}. */
	Move RENEW = new Renew();

	/**
	 * Returns whether the call is not in the way of another one, as far as it is known.
	 */
	default boolean endsConflict() {
		return this instanceof Run || this instanceof Renew
				|| this instanceof Answer answer && !(answer.result() instanceof ClaimResult.InProgress);
	}

	/**
	 * The claim is sent to the store, whose answer decides.
	 *
	 * @param again whether it was sent a moment ago
	 * @hidden
	 */
	record Send(boolean again) implements Move {
	}

	/**
	 * The claim is renewed before the call runs: its lease may be over, or its first beat
	 * is due.
	 *
	 * @hidden
	 */
	record Renew() implements Move {
	}

	/**
	 * The call waits no longer, and claims nothing outside of its transaction.
	 *
	 * @hidden
	 */
	record GoOn() implements Move {
	}

	/**
	 * The call waits for the end of a conflict.
	 *
	 * @param pollAt when the store is asked at the latest
	 * @param deadline when the wait is over
	 * @hidden
	 */
	record Wait(long pollAt, long deadline) implements Move {
	}

	/**
	 * The call owns its key, and runs.
	 *
	 * @param granted the answer of the store
	 * @param sentNanos when the claim, or its last renewal, was sent; the lease counts
	 * from then
	 * @hidden
	 */
	record Run(ClaimResult.Acquired granted, long sentNanos) implements Move {
	}

	/**
	 * The call must not run, and the result is its answer.
	 *
	 * @param result the answer of the store
	 * @hidden
	 */
	record Answer(ClaimResult result) implements Move {
	}

	/**
	 * The store could not be reached, and the policy says to run all the same.
	 *
	 * @param giveBack whether the store may have applied the claim, which is given back
	 * @hidden
	 */
	record Unguarded(boolean giveBack) implements Move {
	}

	/**
	 * The store could not be reached, and the call is refused.
	 *
	 * @param exception what the caller gets
	 * @param giveBack whether the store may have applied the claim, which is given back
	 * @hidden
	 */
	record Refuse(IdempotencyStoreUnavailableException exception, boolean giveBack) implements Move {
	}

}
