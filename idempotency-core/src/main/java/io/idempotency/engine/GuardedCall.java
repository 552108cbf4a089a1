package io.idempotency.engine;

import io.idempotency.AbandonedMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.Internal;
import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;

/**
 * One call to guard, as its adapter describes it.
 *
 * @param fingerprint the values that must be equal on a retry
 * @param options the options of the operation
 * @param store the store of its record
 * @hidden
 */
@Internal
public record GuardedCall(IdempotencyKey key, Fingerprint fingerprint, IdempotencyOptions options,
		IdempotencyStore store) {

	/**
	 * Reduces the fingerprint to the values that the mode compares. {@code REJECT} and
	 * {@code LOCK} compare nothing. The key of a token does not contain an operation, so
	 * the fingerprint binds the token to the first operation that uses it.
	 */
	public GuardedCall {
		if (options.mode() != IdempotencyMode.REPLAY) {
			fingerprint = Fingerprint.NONE;
		}
		if (key.isToken()) {
			fingerprint = Fingerprint.of("token1").add(options.operation()).add(fingerprint.toBytes()).build();
		}
	}

	public String operation() {
		return this.options.operation();
	}

	/** Creates the claim request, with a new claim id. */
	public ClaimRequest claim(ClaimOrigin origin) {
		ClaimType type = (this.options.mode() == IdempotencyMode.REJECT) ? ClaimType.ONCE : ClaimType.LEASED;
		boolean mayTakeOver = this.options.recoverable() || this.options.onAbandoned() == AbandonedMode.RERUN;
		return new ClaimRequest(this.key, ClaimId.random(), this.fingerprint, type, this.options.lease(),
				this.options.retention(), mayTakeOver, origin);
	}

}
