package io.idempotency.store.jdbc;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;

import org.jspecify.annotations.Nullable;

/**
 * One row of the table as it was read, and what each verb makes of it. Immutable; a
 * change is a new record that replaces this one if nobody else was faster.
 *
 * @param state its state
 * @param claimId whose claim it is, {@link #NO_ID} where it is nobody's
 * @param fence the fence of the claim
 * @param fingerprint the fingerprint of the claim
 * @param leaseUntil when the lease, or the time to attach a result, is over
 * @param keptUntil when the retention, or the life of an issued token, is over
 * @param tokenUntil when the life of the token is over, in the past where it is none
 * @param attempts how many claims of type once came with the key
 * @param result the result
 * @param now the database's clock at the reading
 */
record StoredRecord(RecordState state, ClaimId claimId, long fence, Fingerprint fingerprint, long leaseUntil,
		long keptUntil, long tokenUntil, long attempts, @Nullable StoredResult result, long now) {

	static final ClaimId NO_ID = new ClaimId(0, 0);

	/** What an accepted completion with a retention leaves behind. */
	static StoredRecord completed(Completion completion, long fence, long now) {
		RecordState state = RecordSql.stateAfter(completion);
		return new StoredRecord(state, completion.claim().id(), fence, completion.fingerprint(),
				now + RecordSql.attachMicros(completion), now + Micros.of(completion.retention()), 0, 1,
				completion.result(), now);
	}

	/** An issued token. */
	StoredRecord issued(long timeToLive) {
		long until = this.now + timeToLive;
		return new StoredRecord(RecordState.ISSUED, NO_ID, this.fence, Fingerprint.NONE, 0, until, until, 1, null,
				this.now);
	}

	/** When the record is gone. */
	long expiresAt() {
		return Math.max(this.leaseUntil, this.keptUntil);
	}

	/** Whether its time is over and it only waits to be purged: there is no record. */
	boolean isExpired() {
		return expiresAt() <= this.now;
	}

	/** Whether nobody has claimed the key. */
	boolean isUnclaimed() {
		return isExpired() || this.state == RecordState.ISSUED;
	}

	boolean isOwnedBy(ClaimId id) {
		return this.claimId.equals(id);
	}

	private boolean isRunning() {
		return this.state == RecordState.RUNNING || this.state == RecordState.TAKEN_OVER;
	}

	private boolean isDone() {
		return this.state == RecordState.RESULT || this.state == RecordState.TOMBSTONE;
	}

	/** Whether the claim is one more of those that are only counted. */
	boolean counts(ClaimRequest request) {
		return request.type() == ClaimType.ONCE && this.state == RecordState.ONCE && !isExpired()
				&& !isOwnedBy(request.claimId());
	}

	/** Whether its owner has completed it. */
	boolean isDoneBy(ClaimId id) {
		return isDone() && isOwnedBy(id);
	}

	/** Whether a completion is accepted, short of the rules for what is unclaimed. */
	boolean isCompletableBy(ClaimId id) {
		return this.state == RecordState.NOBODYS
				|| isOwnedBy(id) && (isRunning() || this.state == RecordState.EXECUTED);
	}

	/** Whether its owner may give it back. */
	boolean isReleasableBy(ClaimId id) {
		return isOwnedBy(id) && (isRunning() || this.state == RecordState.ONCE);
	}

	/**
	 * What a release leaves of a claim that was taken over: the effect of a dead owner is
	 * not washed away by a successor that failed.
	 */
	StoredRecord nobodys() {
		return new StoredRecord(RecordState.NOBODYS, NO_ID, this.fence, this.fingerprint, this.now, this.keptUntil,
				this.tokenUntil, this.attempts, null, this.now);
	}

	/** What a claim makes of a record that {@link #counts} does not count. */
	Step claim(ClaimRequest request) {
		if (isExpired()) {
			return request.key().isToken() ? Step.stay(new ClaimResult.UnknownToken())
					: acquire(request, RecordState.RUNNING, 0);
		}
		if (this.state == RecordState.ISSUED) {
			return acquire(request, RecordState.RUNNING, this.tokenUntil);
		}
		return (request.type() == ClaimType.ONCE) ? claimOnce(request) : claimLeased(request);
	}

	private Step claimOnce(ClaimRequest request) {
		if (this.state == RecordState.ONCE) {
			return Step.stay(acquired(request));
		}
		return Step.stay(new ClaimResult.Duplicate(2));
	}

	private Step claimLeased(ClaimRequest request) {
		if (this.state == RecordState.ONCE) {
			return Step.stay(new ClaimResult.Tombstone());
		}
		if (isRunning() && isOwnedBy(request.claimId())) {
			return new Step(renewed(request), acquired(request));
		}
		if (!this.fingerprint.matches(request.fingerprint())) {
			return Step.stay(new ClaimResult.Mismatch());
		}
		if (isRunning() || this.state == RecordState.NOBODYS) {
			return conflict(request);
		}
		if (this.state == RecordState.EXECUTED && this.now < this.leaseUntil) {
			return Step.stay(new ClaimResult.InProgress(Micros.toDuration(this.leaseUntil - this.now)));
		}
		if (this.result == null) {
			return Step.stay(new ClaimResult.Tombstone());
		}
		return Step.stay(new ClaimResult.Completed(this.result, Micros.toDuration(this.keptUntil - this.now)));
	}

	private Step conflict(ClaimRequest request) {
		if (isRunning() && this.now < this.leaseUntil) {
			return Step.stay(new ClaimResult.InProgress(Micros.toDuration(this.leaseUntil - this.now)));
		}
		if (!request.takeOver()) {
			return Step.stay(new ClaimResult.Abandoned());
		}
		return acquire(request, RecordState.TAKEN_OVER, this.tokenUntil);
	}

	private Step acquire(ClaimRequest request, RecordState next, long nextTokenUntil) {
		RecordState claimed = (request.type() == ClaimType.ONCE) ? RecordState.ONCE : next;
		long lease = (claimed == RecordState.ONCE) ? 0 : Micros.of(request.lease());
		StoredRecord record = new StoredRecord(claimed, request.claimId(), Math.max(this.now, this.fence + 1),
				request.fingerprint(), this.now + lease, this.now + Micros.of(request.retention()), nextTokenUntil, 1,
				null, this.now);
		return new Step(record, record.acquired(request));
	}

	private StoredRecord renewed(ClaimRequest request) {
		return new StoredRecord(this.state, this.claimId, this.fence, this.fingerprint,
				this.now + Micros.of(request.lease()), this.keptUntil, this.tokenUntil, this.attempts, null, this.now);
	}

	private ClaimResult acquired(ClaimRequest request) {
		return new ClaimResult.Acquired(
				new Claim(request.key(), this.claimId, this.fence, this.state == RecordState.TAKEN_OVER));
	}

}
