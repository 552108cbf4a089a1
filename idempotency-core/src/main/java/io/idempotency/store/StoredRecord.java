package io.idempotency.store;

import java.time.Duration;
import java.util.Optional;

import io.idempotency.key.Fingerprint;

import org.jspecify.annotations.Nullable;

/**
 * One record, with a method for each operation of the state table. A record is immutable.
 * Its methods are pure, except that a claim and the issue of a token create a fencing
 * token. A store replaces a record with the next record if no other call changed it
 * meanwhile.
 * <p>
 * If a record is not {@link #isLive(Moment) live}, the store uses {@link #ABSENT}
 * instead.
 *
 * @param state the state of the record
 * @param claimId the id of the claim, {@link #NO_ID} if no call owns the record
 * @param fencingToken the fencing token of the claim
 * @param fingerprint the fingerprint of the claim
 * @param leaseUntil when the lease, or the time to attach a result, expires
 * @param keptUntil when the retention, or the lifetime of an issued token, expires
 * @param tokenUntil when the lifetime of the token expires; in the past if the key is not
 * a token
 * @param attempts the number of claims of type {@link ClaimType#ONCE} with the key
 * @param result the result
 * @param kind how the call ended; {@link ResultKind#SUCCESS} until the call completes,
 * and in stores that do not need the kind
 * @param origin the origin of the claim
 */
public record StoredRecord(RecordState state, ClaimId claimId, long fencingToken, Fingerprint fingerprint,
		long leaseUntil, long keptUntil, long tokenUntil, long attempts, @Nullable StoredResult result, ResultKind kind,
		ClaimOrigin origin) {

	/** The claim id of a record that no call owns. */
	public static final ClaimId NO_ID = new ClaimId(0, 0);

	/** The absent record. */
	public static final StoredRecord ABSENT = new StoredRecord(RecordState.ABSENT, NO_ID, 0, Fingerprint.NONE,
			Long.MIN_VALUE, Long.MIN_VALUE, 0, 0, null, ResultKind.SUCCESS, ClaimOrigin.UNKNOWN);

	/**
	 * Returns an expired claim. It locks the key only against transactions in progress.
	 * @param id the id of the claim
	 * @return the record
	 */
	public static StoredRecord expired(ClaimId id) {
		return new StoredRecord(RecordState.ONCE, id, 0, Fingerprint.NONE, 0, 0, 0, 1, null, ResultKind.SUCCESS,
				ClaimOrigin.UNKNOWN);
	}

	/**
	 * Returns when the record expires.
	 * @return microseconds of the store's clock
	 */
	public long expiresAt() {
		return Math.max(this.leaseUntil, this.keptUntil);
	}

	/**
	 * Returns whether the record has not expired.
	 * @param moment the moment
	 * @return whether the record is live
	 */
	public boolean isLive(Moment moment) {
		return moment.isBefore(expiresAt());
	}

	/**
	 * Returns whether a claim changes nothing but the number of attempts.
	 * @param request the claim
	 * @return whether only the attempts change
	 */
	public boolean counts(ClaimRequest request) {
		return this.state == RecordState.ONCE && request.type() == ClaimType.ONCE && !isOwnedBy(request.claimId());
	}

	/**
	 * Returns this record without its result. The state changes to
	 * {@link RecordState#WITHOUT_RESULT} if the record has a result.
	 * @return the record
	 */
	public StoredRecord withoutResult() {
		return (this.result == null) ? this : with(RecordState.WITHOUT_RESULT, this.claimId, this.leaseUntil);
	}

	/**
	 * Applies the eviction by an operator.
	 * @param force whether to remove the record of a call in progress
	 * @param moment the time of the step
	 * @return the step
	 */
	public Transition<RecordAdmin.Eviction> evict(boolean force, Moment moment) {
		if (this.state == RecordState.ABSENT) {
			return stay(RecordAdmin.Eviction.ABSENT);
		}
		boolean held = (isRunning() || this.state == RecordState.COMMITTED) && moment.isBefore(this.leaseUntil);
		return (held && !force) ? stay(RecordAdmin.Eviction.RUNNING)
				: new Transition<>(ABSENT, RecordAdmin.Eviction.EVICTED);
	}

	/**
	 * Applies the column "claim" of the state table.
	 * @param request the claim
	 * @param moment the time of the step
	 * @return the step
	 */
	public Transition<ClaimResult> claim(ClaimRequest request, Moment moment) {
		boolean once = request.type() == ClaimType.ONCE;
		return switch (this.state) {
			case ABSENT, ISSUED ->
				(this.state == RecordState.ABSENT && request.key().isToken()) ? stay(new ClaimResult.UnknownToken())
						: acquire(request, once ? RecordState.ONCE : RecordState.RUNNING, moment);
			case ONCE -> once ? claimOnceMore(request) : stay(new ClaimResult.ResultUnavailable());
			case RUNNING, TAKEN_OVER, ORPHANED, COMMITTED, DONE, WITHOUT_RESULT ->
				once ? stay(new ClaimResult.Duplicate(2)) : claimLeased(request, moment);
		};
	}

	private Transition<ClaimResult> claimOnceMore(ClaimRequest request) {
		if (!counts(request)) {
			return acquired(request, ClaimOrigin.UNKNOWN);
		}
		return new Transition<>(
				new StoredRecord(this.state, this.claimId, this.fencingToken, this.fingerprint, this.leaseUntil,
						this.keptUntil, this.tokenUntil, this.attempts + 1, null, this.kind, this.origin),
				new ClaimResult.Duplicate(this.attempts + 1));
	}

	private Transition<ClaimResult> claimLeased(ClaimRequest request, Moment moment) {
		if (isRunning() && isOwnedBy(request.claimId())) {
			return with(this.state, this.claimId, moment.plus(request.lease())).acquired(request, ClaimOrigin.UNKNOWN);
		}
		if (!this.fingerprint.matches(request.fingerprint())) {
			return stay(new ClaimResult.KeyReused());
		}
		boolean awaited = isRunning() || this.state == RecordState.COMMITTED;
		if (awaited && moment.isBefore(this.leaseUntil)) {
			return stay(new ClaimResult.InProgress(moment.until(this.leaseUntil)));
		}
		if (isRunning() || this.state == RecordState.ORPHANED) {
			return request.takeOver() ? acquire(request, RecordState.TAKEN_OVER, moment)
					: stay(new ClaimResult.Abandoned());
		}
		return stay((this.result == null) ? new ClaimResult.ResultUnavailable() : completed(this.result, moment));
	}

	/**
	 * Returns the result that a leased claim would return.
	 * @param asked the fingerprint of the claim
	 * @param moment the time of the claim
	 * @return the result, empty if the claim would not return a stored result
	 */
	public Optional<ClaimResult.Completed> find(Fingerprint asked, Moment moment) {
		return (this.state == RecordState.DONE && this.result != null && this.fingerprint.matches(asked))
				? Optional.of(completed(this.result, moment)) : Optional.empty();
	}

	private ClaimResult.Completed completed(StoredResult done, Moment moment) {
		return new ClaimResult.Completed(done, moment.until(this.keptUntil), this.origin);
	}

	private Transition<ClaimResult> acquire(ClaimRequest request, RecordState next, Moment moment) {
		long leased = (next == RecordState.ONCE) ? moment.micros() : moment.plus(request.lease());
		return new StoredRecord(next, request.claimId(), moment.nextFence(), request.fingerprint(), leased,
				moment.plus(request.retention()), this.tokenUntil, 1, null, ResultKind.SUCCESS, request.origin())
			.acquired(request, this.origin);
	}

	private Transition<ClaimResult> acquired(ClaimRequest request, ClaimOrigin before) {
		return new Transition<>(this,
				new ClaimResult.Acquired(
						new Claim(request.key(), this.claimId, this.fencingToken, this.state == RecordState.TAKEN_OVER),
						before));
	}

	/**
	 * Applies the column "complete" of the state table. With zero retention, the next
	 * record is already expired.
	 * @param completion the completion
	 * @param moment the time of the step
	 * @return the step
	 */
	public Transition<Boolean> complete(Completion completion, Moment moment) {
		boolean ours = isOwnedBy(completion.claim().id());
		return switch (this.state) {
			case ABSENT,
					ISSUED ->
				isInTime(completion, moment)
						? completed(completion, completion.fingerprint(),
								Math.max(completion.claim().fencingToken(), moment.lastFence().get()), moment)
						: stay(false);
			case RUNNING, TAKEN_OVER, COMMITTED -> completedIf(ours, completion, moment);
			// The owner that completes late may have had a different request: it lost its
			// record before the first owner of this record claimed the key.
			case ORPHANED -> completedIf(this.fingerprint.equals(completion.fingerprint()), completion, moment);
			case DONE, WITHOUT_RESULT -> stay(ours);
			case ONCE -> stay(false);
		};
	}

	/**
	 * Returns whether the claim is younger than the retention, so that a late success is
	 * stored. The fencing token is the time of the claim.
	 */
	private static boolean isInTime(Completion completion, Moment moment) {
		long retention = Moment.micros(completion.retention());
		return retention == 0 || moment.micros() - completion.claim().fencingToken() < retention;
	}

	private Transition<Boolean> completedIf(boolean accepted, Completion completion, Moment moment) {
		return accepted ? completed(completion, this.fingerprint, this.fencingToken, moment) : stay(false);
	}

	private Transition<Boolean> completed(Completion completion, Fingerprint completedFingerprint, long completedFence,
			Moment moment) {
		RecordState next = switch (completion.type()) {
			case RESULT -> RecordState.DONE;
			case WITHOUT_RESULT -> RecordState.WITHOUT_RESULT;
			case COMMITTED -> RecordState.COMMITTED;
		};
		long keptAfter = moment.plus(completion.retention());
		// The wait for the result must not extend the retention of the record.
		long awaited = Math.min(moment.plus(completion.attachWithin()), keptAfter);
		return new Transition<>(
				new StoredRecord(next, completion.claim().id(), completedFence, completedFingerprint, awaited,
						keptAfter, this.tokenUntil, this.attempts, completion.result(), kind(completion), this.origin),
				true);
	}

	/**
	 * Returns the kind to store. The call of a crashed owner may have had an effect, so
	 * the rejection of its successor must not allow the store to remove the record.
	 */
	private ResultKind kind(Completion completion) {
		boolean takenOver = this.state == RecordState.TAKEN_OVER || this.state == RecordState.ORPHANED;
		return (takenOver && completion.kind() == ResultKind.REJECTION) ? ResultKind.FAILURE : completion.kind();
	}

	/**
	 * Applies the column "release" of the state table.
	 * @param id the id of the claim
	 * @param moment the time of the step
	 * @return the step
	 */
	public Transition<Boolean> release(ClaimId id, Moment moment) {
		return switch (this.state) {
			// The claim does not exist; this release may be a repetition.
			case ABSENT, ISSUED, ORPHANED -> stay(true);
			case RUNNING, ONCE -> isOwnedBy(id) ? new Transition<>(unclaimed(moment), true) : stay(false);
			// The call of a crashed owner may have had an effect, so the failure of its
			// successor must not delete the record.
			case TAKEN_OVER -> isOwnedBy(id)
					? new Transition<>(with(RecordState.ORPHANED, NO_ID, moment.micros()), true) : stay(false);
			case COMMITTED, DONE, WITHOUT_RESULT -> stay(false);
		};
	}

	/**
	 * Returns the record without its claim. A token becomes issued again, with its
	 * original expiry.
	 */
	private StoredRecord unclaimed(Moment moment) {
		return moment.isBefore(this.tokenUntil) ? issued(this.fencingToken, this.tokenUntil) : ABSENT;
	}

	/**
	 * Applies the column "renew" of the state table.
	 * @param id the id of the claim
	 * @param lease the lease
	 * @param moment the time of the step
	 * @return the step
	 */
	public Transition<Boolean> renew(ClaimId id, Duration lease, Moment moment) {
		return (isRunning() && isOwnedBy(id)) ? new Transition<>(with(this.state, id, moment.plus(lease)), true)
				: stay(false);
	}

	/**
	 * Issues a token.
	 * @param timeToLive how long the token may be used
	 * @param moment the time of the step
	 * @return the step; its result is the expiry of the record
	 */
	public Transition<Long> issue(Duration timeToLive, Moment moment) {
		if (this.state != RecordState.ABSENT) {
			return stay(expiresAt());
		}
		long until = moment.plus(timeToLive);
		return new Transition<>(issued(moment.nextFence(), until), until);
	}

	private static StoredRecord issued(long fencingToken, long until) {
		return new StoredRecord(RecordState.ISSUED, NO_ID, fencingToken, Fingerprint.NONE, 0, until, until, 1, null,
				ResultKind.SUCCESS, ClaimOrigin.UNKNOWN);
	}

	private boolean isRunning() {
		return this.state == RecordState.RUNNING || this.state == RecordState.TAKEN_OVER;
	}

	private boolean isOwnedBy(ClaimId id) {
		return this.claimId.equals(id);
	}

	/** Returns this record in another state, without a result. */
	private StoredRecord with(RecordState nextState, ClaimId nextId, long nextLeaseUntil) {
		return new StoredRecord(nextState, nextId, this.fencingToken, this.fingerprint, nextLeaseUntil, this.keptUntil,
				this.tokenUntil, this.attempts, null, this.kind, this.origin);
	}

	private <T> Transition<T> stay(T answer) {
		return new Transition<>(this, answer);
	}

	/**
	 * One transition of a record: the next record and the result for the caller.
	 *
	 * @param next the next record; the same instance if nothing changes
	 * @param answer the result for the caller
	 */
	public record Transition<T>(StoredRecord next, T answer) {
	}

}
