package io.idempotency.engine;

import java.util.function.Supplier;

import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Scheduler;

import static org.assertj.core.api.Assertions.assertThat;

/** A duplicate whose first claim was in progress, and that waits. */
record Duplicate(GuardedCall call, ConflictWaiter waiter, Scheduler time) {

	/**
	 * Waits for the end of the conflict.
	 * @param claim what the store answers
	 * @return the last answer
	 */
	ClaimResult await(ClaimResult.InProgress busy, Supplier<ClaimResult> claim) {
		ClaimStateMachine admission = new ClaimStateMachine(this.call, ClaimOrigin.UNKNOWN);
		admission.begin(this.time.nanos());
		assertThat(admission.answered(busy, this.time.nanos())).isInstanceOf(NextStep.Wait.class);
		NextStep move = this.waiter.await(admission, (send) -> admission.answered(claim.get(), this.time.nanos()));
		return ((NextStep.Answer) move).result();
	}

}
