package io.idempotency.proofs.simulation;

/** What can go wrong. */
enum Fault {

	/** The request is lost, and the node hears nothing until its time-out. */
	REQUEST_LOST,

	/** The request is rejected at once, because there is no connection. */
	NOT_REACHED,

	/** The request is applied, and its reply is lost at once. */
	REPLY_LOST,

	/** The request or its reply takes long, perhaps longer than the time-out. */
	SLOW,

	/** The request is applied once more later. */
	REPEATED,

	/** The clocks of the application stop: nothing of a node runs for some time. */
	PAUSE,

	/** A node ends at once. */
	CRASH,

	/** A node is closed, and ends some time later. */
	CLOSE,

	/** A node, or all of them, cannot reach the store. */
	CUT,

	/** The clock of the store steps. */
	CLOCK_STEP,

	/** The store loses a record, as in a fail-over, or an operator removes it. */
	RECORD_LOST,

	/** A node cannot start a thread: the next call of its scheduler throws an error. */
	NO_THREAD,

	/** A client hangs up: it cancels a call that must not block. */
	HANG_UP

}
