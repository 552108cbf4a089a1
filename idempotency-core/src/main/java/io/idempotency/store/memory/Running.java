package io.idempotency.store.memory;

import java.time.Duration;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;

import org.jspecify.annotations.Nullable;

/**
 * A claim that is neither completed nor released.
 *
 * @param origin what the record was before it was first claimed
 * @param owner whose claim it is; {@code null}: nobody's, and the lease is over
 * @param fence the fence of the claim
 * @param abandoned whether an earlier owner's lease ran out
 * @param fingerprint the fingerprint of the claim
 * @param leaseUntil when the lease is over
 * @param retainUntil when the retention of the claim is over
 */
record Running(Unclaimed origin, @Nullable ClaimId owner, long fence, boolean abandoned, Fingerprint fingerprint,
		long leaseUntil, long retainUntil) implements RecordState {

	static Running first(ClaimRequest request, long fence, Unclaimed origin, Moment moment) {
		return new Running(origin, request.claimId(), fence, false, request.fingerprint(), moment.plus(request.lease()),
				moment.plus(request.retention()));
	}

	@Override
	public long expiresAt() {
		return Math.max(this.leaseUntil, this.retainUntil);
	}

	@Override
	public Step<ClaimResult> claim(ClaimRequest request, Moment moment) {
		if (request.type() == ClaimType.ONCE) {
			return stay(new ClaimResult.Duplicate(2));
		}
		if (isOwner(request.claimId())) {
			return acquired(withOwner(request.claimId(), moment.plus(request.lease())), request);
		}
		if (!this.fingerprint.matches(request.fingerprint())) {
			return stay(new ClaimResult.Mismatch());
		}
		if (this.owner != null && moment.isBefore(this.leaseUntil)) {
			return stay(new ClaimResult.InProgress(moment.until(this.leaseUntil)));
		}
		if (!request.takeOver()) {
			return stay(new ClaimResult.Abandoned());
		}
		return acquired(new Running(this.origin, request.claimId(), moment.nextFence(), true, request.fingerprint(),
				moment.plus(request.lease()), moment.plus(request.retention())), request);
	}

	private static Step<ClaimResult> acquired(Running next, ClaimRequest request) {
		return new Step<>(next,
				new ClaimResult.Acquired(new Claim(request.key(), request.claimId(), next.fence, next.abandoned)));
	}

	@Override
	public Step<Boolean> complete(Completion completion, Moment moment) {
		if (this.owner != null && !isOwner(completion.claim().id())) {
			return stay(false);
		}
		return Done.by(completion, this.fingerprint, moment);
	}

	@Override
	public Step<Boolean> release(ClaimId claimId, Moment moment) {
		if (this.owner == null) {
			// there is no claim to give back: this may be the second time it is sent
			return stay(true);
		}
		if (!isOwner(claimId)) {
			return stay(false);
		}
		// an abandoned effect is not washed away by a successor that failed
		return new Step<>(this.abandoned ? withOwner(null, moment.micros()) : this.origin, true);
	}

	@Override
	public Step<Boolean> renew(ClaimId claimId, Duration lease, Moment moment) {
		if (!isOwner(claimId)) {
			return stay(false);
		}
		return new Step<>(withOwner(claimId, moment.plus(lease)), true);
	}

	private boolean isOwner(ClaimId claimId) {
		return claimId.equals(this.owner);
	}

	private Running withOwner(@Nullable ClaimId newOwner, long newLeaseUntil) {
		return new Running(this.origin, newOwner, this.fence, this.abandoned, this.fingerprint, newLeaseUntil,
				this.retainUntil);
	}

}
