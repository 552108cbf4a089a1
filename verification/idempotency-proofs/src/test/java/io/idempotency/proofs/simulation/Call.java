package io.idempotency.proofs.simulation;

/**
 * What one client wants: the same call, sent once or several times.
 *
 * @param number tells calls apart
 * @param key the key
 * @param at when it is sent first
 * @param work what the guarded method does
 * @param duration how long the work takes
 * @param variant what is compared; another variant of a key is another request
 * @param tries how often it is sent at most
 * @param patience how long the client waits for an answer before it sends the call again
 */
record Call(int number, KeyPlan key, long at, Work work, long duration, int variant, int tries, long patience) {

	@Override
	public String toString() {
		return String.format("call %d of %s variant %d at %.3f s: %s for %.3f s, at most %d times", this.number,
				this.key.options().operation(), this.variant, this.at / 1e9, this.work, this.duration / 1e9,
				this.tries);
	}

	/** What a guarded method does. */
	enum Work {

		/** Returns a value. */
		RETURNS,

		/** Throws, and has done nothing. */
		FAILS,

		/** Throws the first time, and returns a value when it is called again. */
		FAILS_ONCE,

		/** Returns a future, which completes with a value. */
		COMPLETES_LATER,

		/** Returns a future, which fails. */
		FAILS_LATER,

		/**
		 * Returns a future that is given up, while its work goes on and has its effect.
		 */
		GIVEN_UP;

		boolean isAsync() {
			return this == COMPLETES_LATER || this == FAILS_LATER || this == GIVEN_UP;
		}

	}

}
