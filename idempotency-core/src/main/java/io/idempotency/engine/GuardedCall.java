package io.idempotency.engine;

import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.IdempotencyStore;

/**
 * One call that wants to run: what a door found out about it.
 *
 * @param key the key
 * @param fingerprint what must be equal on a retry
 * @param policy what the operation wants
 * @param store where its record is kept
 * @hidden
 * @since 0.1.0
 */
@Internal
public record GuardedCall(IdempotencyKey key, Fingerprint fingerprint, IdempotencyPolicy policy,
		IdempotencyStore store) {

	/**
	 * Narrows the fingerprint to what the mode compares: {@code REJECT} and {@code LOCK}
	 * compare nothing, and a token, whose key has no operation, is bound to the first
	 * operation that uses it.
	 */
	public GuardedCall {
		if (policy.mode() != IdempotencyMode.REPLAY) {
			fingerprint = Fingerprint.NONE;
		}
		if (key.isToken()) {
			fingerprint = Fingerprint.of("token1").add(policy.operation()).add(fingerprint.toBytes()).build();
		}
	}

	String operation() {
		return this.policy.operation();
	}

}
