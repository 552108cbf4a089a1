package io.idempotency.proofs.history;

/**
 * A run of the guarded method.
 *
 * @param id its name
 * @param key for which key
 * @param variant for which request
 * @param operation how it was guarded
 * @param process in which process
 * @param start when it began, in microseconds
 * @param end when it ended; never, if its process was gone before
 * @param ending how it ended
 * @param digest what it returned
 */
record Run(String id, String key, String variant, Operation operation, String process, long start, long end,
		CallOutcome ending, String digest) {

	static final long NEVER = Long.MAX_VALUE;

	/** The node whose process it was. */
	String node() {
		return this.process.substring(0, this.process.indexOf('-'));
	}

	boolean failedBefore(long time) {
		return this.ending == CallOutcome.FAILED && this.end <= time;
	}

	enum CallOutcome {

		/** It has returned. */
		DONE,

		/** It has thrown, and done nothing. */
		FAILED,

		/** Nobody knows. */
		NONE

	}

}
