package io.idempotency.store;

import java.time.Duration;

/**
 * What a store says to a claim.
 *
 * @since 0.1.0
 */
public sealed interface ClaimResult {

	/**
	 * The caller may run.
	 *
	 * @param claim the claim
	 */
	record Acquired(Claim claim) implements ClaimResult {
	}

	/**
	 * Another claim is live.
	 *
	 * @param rest how long its lease lives from now unless renewed, positive
	 */
	record InProgress(Duration rest) implements ClaimResult {
	}

	/**
	 * Done: here is the result.
	 *
	 * @param result the result
	 * @param rest how long the record is kept from now
	 */
	record Completed(StoredResult result, Duration rest) implements ClaimResult {
	}

	/**
	 * Done: the result was not kept.
	 */
	record Tombstone() implements ClaimResult {
	}

	/**
	 * The key was used with another fingerprint.
	 */
	record Mismatch() implements ClaimResult {
	}

	/**
	 * The owner's lease ran out while it was running, and the request may not take over.
	 */
	record Abandoned() implements ClaimResult {
	}

	/**
	 * A claim of type {@link ClaimType#ONCE} stands.
	 *
	 * @param attempts how many claims came with this key, the first and this one included
	 */
	record Duplicate(long attempts) implements ClaimResult {
	}

	/**
	 * The key is an issued token, and there is none: never issued, expired, or another
	 * caller's.
	 */
	record UnknownToken() implements ClaimResult {
	}

}
