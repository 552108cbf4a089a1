package io.idempotency.store;

import java.time.Duration;

/**
 * The answer of a store to a claim.
 *
 * @since 0.1.0
 */
public sealed interface ClaimResult {

	/**
	 * The caller may run.
	 *
	 * @param claim the claim
	 * @param before where the claim that was taken over came from;
	 * {@link ClaimOrigin#UNKNOWN} if the claim takes nothing over, or was sent once more
	 */
	record Acquired(Claim claim, ClaimOrigin before) implements ClaimResult {

		/**
		 * Creates the answer to a claim that takes nothing over, or of a store that keeps
		 * no origins.
		 * @param claim the claim
		 */
		public Acquired(Claim claim) {
			this(claim, ClaimOrigin.UNKNOWN);
		}

	}

	/**
	 * The claim of another call is live.
	 *
	 * @param rest how long the lease of that claim lives from now unless renewed,
	 * positive; a guess if the store cannot see the record yet
	 */
	record InProgress(Duration rest) implements ClaimResult {
	}

	/**
	 * The first call is done, and its result was kept.
	 *
	 * @param result the result
	 * @param rest how long the record is kept from now
	 * @param origin where the claim of the first call came from
	 */
	record Completed(StoredResult result, Duration rest, ClaimOrigin origin) implements ClaimResult {

		/**
		 * Creates the answer of a store that keeps no origins.
		 * @param result the result
		 * @param rest how long the record is kept from now
		 */
		public Completed(StoredResult result, Duration rest) {
			this(result, rest, ClaimOrigin.UNKNOWN);
		}

	}

	/**
	 * The first call is done, but its result was not kept.
	 */
	record ResultUnavailable() implements ClaimResult {
	}

	/**
	 * The key was used with another fingerprint.
	 */
	record KeyReused() implements ClaimResult {
	}

	/**
	 * The lease of the owner ran out before the owner completed the claim, and the
	 * request may not take over.
	 */
	record Abandoned() implements ClaimResult {
	}

	/**
	 * The key has a claim of type {@link ClaimType#ONCE} already.
	 *
	 * @param attempts how many claims came with this key, the first and this one included
	 */
	record Duplicate(long attempts) implements ClaimResult {
	}

	/**
	 * The key is a token that has no record: it was never issued, has expired, or belongs
	 * to another caller.
	 */
	record UnknownToken() implements ClaimResult {
	}

}
