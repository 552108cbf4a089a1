package io.idempotency.store.memory;

import java.time.Duration;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;

/**
 * The effect is committed, its result is not attached yet.
 *
 * @param owner whose claim it was
 * @param fingerprint the fingerprint of the claim
 * @param attachUntil from when on the record is a tombstone
 * @param expiresAt when the retention is over
 */
record Executed(ClaimId owner, Fingerprint fingerprint, long attachUntil, long expiresAt) implements RecordState {

	@Override
	public Step<ClaimResult> claim(ClaimRequest request, Moment moment) {
		if (request.type() == ClaimType.ONCE) {
			return stay(new ClaimResult.Duplicate(2));
		}
		if (!this.fingerprint.matches(request.fingerprint())) {
			return stay(new ClaimResult.Mismatch());
		}
		if (moment.isBefore(this.attachUntil)) {
			return stay(new ClaimResult.InProgress(moment.until(this.attachUntil)));
		}
		return stay(new ClaimResult.Tombstone());
	}

	@Override
	public Step<Boolean> complete(Completion completion, Moment moment) {
		if (!this.owner.equals(completion.claim().id())) {
			return stay(false);
		}
		return Done.by(completion, this.fingerprint, moment);
	}

	@Override
	public Step<Boolean> release(ClaimId claimId, Moment moment) {
		return stay(false);
	}

	@Override
	public Step<Boolean> renew(ClaimId claimId, Duration lease, Moment moment) {
		return stay(false);
	}

}
