package io.idempotency.store.memory;

import java.time.Duration;

import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;

/**
 * Nobody has claimed the key: the state a released claim goes back to.
 */
sealed interface Unclaimed extends RecordState permits Absent, Issued {

	@Override
	default Step<ClaimResult> claim(ClaimRequest request, Moment moment) {
		long fence = moment.nextFence();
		RecordState next = (request.type() == ClaimType.ONCE) ? Once.first(request, fence, this, moment)
				: Running.first(request, fence, this, moment);
		return new Step<>(next, new ClaimResult.Acquired(new Claim(request.key(), request.claimId(), fence, false)));
	}

	@Override
	default Step<Boolean> complete(Completion completion, Moment moment) {
		// the fence of a claim is the store's clock at the claim
		long lateUntil = Moment.plus(completion.claim().fence(), completion.retention());
		if (!completion.retention().isZero() && !moment.isBefore(lateUntil)) {
			return stay(false);
		}
		return Done.by(completion, completion.fingerprint(), moment);
	}

	@Override
	default Step<Boolean> release(ClaimId claimId, Moment moment) {
		return stay(true);
	}

	@Override
	default Step<Boolean> renew(ClaimId claimId, Duration lease, Moment moment) {
		return stay(false);
	}

}
