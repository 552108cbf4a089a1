package io.idempotency.store;

import java.time.Duration;

/**
 * The result of a claim.
 *
 * @since 0.1.0
 */
public sealed interface ClaimResult {

	/**
	 * The caller may run.
	 *
	 * @param claim the claim
	 * @param before the origin of the claim that was taken over;
	 * {@link ClaimOrigin#UNKNOWN} if no claim was taken over, or the request was repeated
	 */
	record Acquired(Claim claim, ClaimOrigin before) implements ClaimResult {

		/**
		 * Creates the result for a claim that does not take over another claim, or for a
		 * store without origins.
		 * @param claim the claim
		 */
		public Acquired(Claim claim) {
			this(claim, ClaimOrigin.UNKNOWN);
		}

	}

	/**
	 * Another call holds a valid claim.
	 *
	 * @param rest the remaining lease of that claim, positive; an estimate if the store
	 * cannot see the record yet
	 */
	record InProgress(Duration rest) implements ClaimResult {
	}

	/**
	 * The first call completed with a stored result.
	 *
	 * @param result the result
	 * @param rest the remaining retention of the record
	 * @param origin the origin of the claim of the first call
	 */
	record Completed(StoredResult result, Duration rest, ClaimOrigin origin) implements ClaimResult {

		/**
		 * Creates the result for a store without origins.
		 * @param result the result
		 * @param rest the remaining retention of the record
		 */
		public Completed(StoredResult result, Duration rest) {
			this(result, rest, ClaimOrigin.UNKNOWN);
		}

	}

	/**
	 * The first call completed without a stored result.
	 */
	record ResultUnavailable() implements ClaimResult {
	}

	/**
	 * The key was used with another fingerprint.
	 */
	record KeyReused() implements ClaimResult {
	}

	/**
	 * The lease of the owner expired before the owner completed the claim, and the
	 * request may not take over.
	 */
	record Abandoned() implements ClaimResult {
	}

	/**
	 * The key already has a claim of type {@link ClaimType#ONCE}.
	 *
	 * @param attempts the number of claims with this key, including the first claim and
	 * this one
	 */
	record Duplicate(long attempts) implements ClaimResult {
	}

	/**
	 * The key is a token without a record: it was never issued, expired, or belongs to
	 * another caller.
	 */
	record UnknownToken() implements ClaimResult {
	}

}
