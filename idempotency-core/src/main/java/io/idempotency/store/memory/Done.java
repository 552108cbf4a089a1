package io.idempotency.store.memory;

import java.time.Duration;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;

import org.jspecify.annotations.Nullable;

/**
 * Done, with its result or as a tombstone.
 *
 * @param owner whose claim it was
 * @param fingerprint the fingerprint of the claim
 * @param result the result; {@code null}: it was not kept
 * @param expiresAt when the retention is over
 */
record Done(ClaimId owner, Fingerprint fingerprint, @Nullable StoredResult result,
		long expiresAt) implements RecordState {

	/** The result and its place in the order of completion. */
	private static final int RESULT_OVERHEAD = 80;

	/**
	 * What an accepted completion leaves behind: with zero retention a record that has
	 * expired, which is none.
	 */
	static Step<Boolean> by(Completion completion, Fingerprint fingerprint, Moment moment) {
		return new Step<>(end(completion, fingerprint, moment), true);
	}

	private static RecordState end(Completion completion, Fingerprint fingerprint, Moment moment) {
		ClaimId owner = completion.claim().id();
		long expiresAt = moment.plus(completion.retention());
		if (completion.type() == Completion.Type.EXECUTED) {
			return new Executed(owner, fingerprint, moment.plus(completion.attachWithin()), expiresAt);
		}
		return new Done(owner, fingerprint, completion.result(), expiresAt);
	}

	@Override
	public Step<ClaimResult> claim(ClaimRequest request, Moment moment) {
		if (request.type() == ClaimType.ONCE) {
			return stay(new ClaimResult.Duplicate(2));
		}
		if (!this.fingerprint.matches(request.fingerprint())) {
			return stay(new ClaimResult.Mismatch());
		}
		if (this.result == null) {
			return stay(new ClaimResult.Tombstone());
		}
		return stay(new ClaimResult.Completed(this.result, moment.until(this.expiresAt)));
	}

	@Override
	public Step<Boolean> complete(Completion completion, Moment moment) {
		return stay(this.owner.equals(completion.claim().id()));
	}

	@Override
	public Step<Boolean> release(ClaimId claimId, Moment moment) {
		return stay(false);
	}

	@Override
	public Step<Boolean> renew(ClaimId claimId, Duration lease, Moment moment) {
		return stay(false);
	}

	@Override
	public long resultBytes() {
		return (this.result != null) ? RESULT_OVERHEAD + this.result.bytes().length : 0;
	}

	@Override
	public RecordState withoutResult() {
		return new Done(this.owner, this.fingerprint, null, this.expiresAt);
	}

}
