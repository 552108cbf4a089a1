package io.idempotency.store;

import java.util.Objects;

import io.idempotency.key.IdempotencyKey;

/**
 * The right to run, as the store gave it.
 *
 * @param key the key
 * @param id whose claim it is
 * @param fence a number larger than that of every earlier claim of the record: the
 * store's clock in microseconds, or one more than the last fence where that is larger
 * @param abandoned whether an earlier owner's lease ran out while it was running, so that
 * its effect may or may not have happened
 * @since 0.1.0
 */
public record Claim(IdempotencyKey key, ClaimId id, long fence, boolean abandoned) {

	/**
	 * Validates the components.
	 */
	public Claim {
		Objects.requireNonNull(key, "key");
		Objects.requireNonNull(id, "id");
	}

}
