package io.idempotency.store.memory;

import java.time.Duration;

import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;

/**
 * A claim that was final at once.
 *
 * @param origin what the record was before it was claimed
 * @param owner whose claim it is
 * @param fence the fence of the claim
 * @param attempts how many claims came with the key
 * @param expiresAt when the retention, counted from the first claim, is over
 */
record Once(Unclaimed origin, ClaimId owner, long fence, long attempts, long expiresAt) implements RecordState {

	static Once first(ClaimRequest request, long fence, Unclaimed origin, Moment moment) {
		return new Once(origin, request.claimId(), fence, 1, moment.plus(request.retention()));
	}

	@Override
	public Step<ClaimResult> claim(ClaimRequest request, Moment moment) {
		if (request.type() != ClaimType.ONCE) {
			return stay(new ClaimResult.Tombstone());
		}
		if (this.owner.equals(request.claimId())) {
			return stay(new ClaimResult.Acquired(new Claim(request.key(), this.owner, this.fence, false)));
		}
		Once counted = new Once(this.origin, this.owner, this.fence, this.attempts + 1, this.expiresAt);
		return new Step<>(counted, new ClaimResult.Duplicate(counted.attempts));
	}

	@Override
	public Step<Boolean> complete(Completion completion, Moment moment) {
		return stay(false);
	}

	@Override
	public Step<Boolean> release(ClaimId claimId, Moment moment) {
		return this.owner.equals(claimId) ? new Step<>(this.origin, true) : stay(false);
	}

	@Override
	public Step<Boolean> renew(ClaimId claimId, Duration lease, Moment moment) {
		return stay(false);
	}

}
