package io.idempotency.store;

import java.time.Duration;
import java.util.Objects;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;

/**
 * Asks for the right to run.
 *
 * @param key the key
 * @param claimId whose claim it is; the same one when a request is sent once more
 * @param fingerprint what must be equal on a retry
 * @param type what kind of claim
 * @param lease how long the claim lives unless renewed; of no meaning for
 * {@link ClaimType#ONCE}
 * @param retention how long the record is kept: until it is completed, counted from the
 * claim, but never shorter than the rest of the lease
 * @param takeOver whether a claim whose lease is over may be taken over
 * @since 0.1.0
 */
public record ClaimRequest(IdempotencyKey key, ClaimId claimId, Fingerprint fingerprint, ClaimType type, Duration lease,
		Duration retention, boolean takeOver) {

	/**
	 * Validates the components.
	 */
	public ClaimRequest {
		Objects.requireNonNull(key, "key");
		Objects.requireNonNull(claimId, "claimId");
		Objects.requireNonNull(fingerprint, "fingerprint");
		Objects.requireNonNull(type, "type");
		Durations.requirePositive("lease", lease);
		Durations.requirePositive("retention", retention);
	}

}
