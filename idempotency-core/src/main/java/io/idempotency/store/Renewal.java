package io.idempotency.store;

import java.time.Duration;
import java.util.Objects;

import io.idempotency.key.IdempotencyKey;

/**
 * A request to renew one claim for a whole lease from now. Renewals are sent in batches.
 *
 * @param key the key
 * @param claimId the id of the claim
 * @param lease the lease
 * @since 0.1.0
 */
public record Renewal(IdempotencyKey key, ClaimId claimId, Duration lease) {

	/**
	 * Validates the components.
	 */
	public Renewal {
		Objects.requireNonNull(key, "key");
		Objects.requireNonNull(claimId, "claimId");
		ClaimRequest.requirePositive("lease", lease);
	}

}
