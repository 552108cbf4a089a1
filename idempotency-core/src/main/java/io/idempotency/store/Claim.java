package io.idempotency.store;

import java.util.Objects;

import io.idempotency.key.IdempotencyKey;

/**
 * The right to run, which the store grants to a call.
 *
 * @param key the key
 * @param id the id of the claim
 * @param fencingToken a number larger than the fencing token of every earlier claim of
 * the record: the larger of the store's clock in microseconds and the last fencing token
 * plus one
 * @param abandoned whether the lease of an earlier owner expired while its call ran, so
 * that its effect may or may not have happened
 * @since 0.1.0
 */
public record Claim(IdempotencyKey key, ClaimId id, long fencingToken, boolean abandoned) {

	/**
	 * Validates the components.
	 */
	public Claim {
		Objects.requireNonNull(key, "key");
		Objects.requireNonNull(id, "id");
	}

}
