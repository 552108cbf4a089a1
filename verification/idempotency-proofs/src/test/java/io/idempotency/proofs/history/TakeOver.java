package io.idempotency.proofs.history;

/**
 * A run that the state table allows although another one has begun and not failed.
 *
 * @param owner the run that lost its claim
 * @param next its successor
 * @param cause why it lost it
 */
record TakeOver(Run owner, Run next, FaultKind cause) {

	/** Whether both runs have done their work. */
	boolean isDoneTwice() {
		return this.owner.ending() == Run.CallOutcome.DONE && this.next.ending() == Run.CallOutcome.DONE;
	}

}
