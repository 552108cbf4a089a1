package io.idempotency.proofs.simulation;

/** Which engine of a node the calls are given to. */
enum Driver {

	/** The one of the callers that block. */
	BLOCKING,

	/** The one of the callers that must not. */
	REACTIVE,

	/** Both engines of each node, which share what goes on beside the calls. */
	BOTH;

	boolean isReactive(Chance chance, Attempt attempt) {
		return this == REACTIVE || this == BOTH && chance.hits(0.5, "reactive", attempt.id());
	}

}
