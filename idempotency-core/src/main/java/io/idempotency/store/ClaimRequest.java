package io.idempotency.store;

import java.time.Duration;
import java.util.Objects;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;

/**
 * A request for the right to run.
 *
 * @param key the key
 * @param claimId whose claim it is; a request that is sent once more has the same claim
 * id
 * @param fingerprint what must be equal on a retry
 * @param type what kind of claim
 * @param lease how long the claim lives unless renewed; {@link ClaimType#ONCE} ignores it
 * @param retention how long the record is kept: it counts from the claim until the claim
 * is completed, and is never shorter than the rest of the lease
 * @param takeOver whether a claim whose lease is over may be taken over
 * @param origin where the claim comes from, for people who look at the record
 * @since 0.1.0
 */
public record ClaimRequest(IdempotencyKey key, ClaimId claimId, Fingerprint fingerprint, ClaimType type, Duration lease,
		Duration retention, boolean takeOver, ClaimOrigin origin) {

	/**
	 * Validates the components.
	 */
	public ClaimRequest {
		Objects.requireNonNull(key, "key");
		Objects.requireNonNull(claimId, "claimId");
		Objects.requireNonNull(fingerprint, "fingerprint");
		Objects.requireNonNull(type, "type");
		Objects.requireNonNull(origin, "origin");
		Durations.requirePositive("lease", lease);
		Durations.requirePositive("retention", retention);
	}

	/**
	 * Creates a request of {@linkplain ClaimOrigin#UNKNOWN unknown origin}.
	 * @param key the key
	 * @param claimId whose claim it is
	 * @param fingerprint what must be equal on a retry
	 * @param type what kind of claim
	 * @param lease how long the claim lives unless renewed
	 * @param retention how long the record is kept
	 * @param takeOver whether a claim whose lease is over may be taken over
	 */
	public ClaimRequest(IdempotencyKey key, ClaimId claimId, Fingerprint fingerprint, ClaimType type, Duration lease,
			Duration retention, boolean takeOver) {
		this(key, claimId, fingerprint, type, lease, retention, takeOver, ClaimOrigin.UNKNOWN);
	}

}
