package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.store.Claim;
import io.idempotency.store.Completion;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * The handle of the call that owns a key: renews its claim, and ends it once.
 * <p>
 * Thread-safe: the first of {@link #complete}, {@link #tombstone}, {@link #fail} and
 * {@link #release} ends the claim, later ones do nothing. None of them throws: what the
 * store could not do at once is retried in the background, so that the caller always gets
 * his real result.
 *
 * @since 0.1.0
 */
public final class Execution {

	private final GuardedCall call;

	private final Claim claim;

	private final Background background;

	private final ConflictWaiter waiter;

	private final Events events;

	private final @Nullable Beats beats;

	private final AtomicBoolean ended = new AtomicBoolean();

	private final CallContext context;

	Execution(GuardedCall call, Claim claim, Background background, ConflictWaiter waiter, Events events) {
		this.call = call;
		this.claim = claim;
		this.background = background;
		this.waiter = waiter;
		this.events = events;
		this.context = new CallContext(call, claim, this.ended::get);
		boolean leased = call.policy().mode() != IdempotencyMode.REJECT;
		this.beats = (leased && call.policy().renewal()) ? new Beats(call, claim, background, events) : null;
	}

	void startRenewing() {
		if (this.beats != null) {
			this.beats.start();
		}
	}

	/**
	 * Stops renewing without ending the claim: the work may still run where nobody can
	 * see it, so the claim is left to its lease and is abandoned when that is over.
	 */
	public void stopRenewing() {
		if (this.beats != null) {
			this.beats.stop();
		}
	}

	/**
	 * Name of the operation.
	 * @return the operation
	 */
	public String operation() {
		return this.call.operation();
	}

	/**
	 * What the operation wants.
	 * @return the policy
	 */
	public IdempotencyPolicy policy() {
		return this.call.policy();
	}

	/**
	 * Whether an earlier owner died while running, so that its effect may have happened.
	 * @return whether it did
	 */
	public boolean isAbandoned() {
		return this.claim.abandoned();
	}

	/**
	 * Whether the claim was ended.
	 * @return whether it was
	 */
	public boolean isEnded() {
		return this.ended.get();
	}

	/**
	 * Whether the application asked not to keep the result.
	 * @return whether it did
	 */
	public boolean isReleaseRequested() {
		return this.context.isReleaseRequested();
	}

	/**
	 * The context to be bound to threads that run the guarded method.
	 * @return the context
	 */
	public IdempotencyContext context() {
		return this.context;
	}

	/**
	 * Done, with a result that duplicates get; in the modes that keep none, just done.
	 * @param result the result
	 */
	public void complete(StoredResult result) {
		end(Completion.result(this.claim, this.call.fingerprint(), result, this.context.retention()));
	}

	/**
	 * Done, and the result cannot be kept.
	 */
	public void tombstone() {
		end(Completion.tombstone(this.claim, this.call.fingerprint(), this.context.retention()));
	}

	/**
	 * Done, and about to be committed together with the record: the result is attached
	 * afterwards, unless there is none to be kept. Does nothing if the claim was ended.
	 * @param attachWithin how long duplicates are told "in progress" meanwhile
	 */
	void executed(Duration attachWithin) {
		if (this.call.policy().mode() != IdempotencyMode.REPLAY || this.context.isReleaseRequested()) {
			tombstone();
		}
		else if (!this.ended.get()) {
			this.call.store()
				.complete(Completion.executed(this.claim, this.call.fingerprint(), attachWithin,
						this.context.retention()));
		}
	}

	/**
	 * Whether the effect was committed together with the record: whatever the answer is,
	 * it is kept and the key never released.
	 * @return whether it was
	 */
	public boolean isCommitted() {
		return this.call.store() instanceof JoinedStore joined && joined.isCommitted();
	}

	/**
	 * Done, but its result could not be encoded: as {@link #tombstone()}, and logged.
	 * @param cause why
	 */
	public void resultNotStored(Throwable cause) {
		this.events.resultNotStored(operation(), cause);
		tombstone();
	}

	/**
	 * The call failed: releases the key, or keeps the failure if the policy says so.
	 * @param failure what the caller gets; a release that fails is added to it as
	 * suppressed
	 * @param remembered the failure in a form that can be replayed, {@code null} if it
	 * has none
	 */
	public void fail(Throwable failure, @Nullable StoredResult remembered) {
		boolean remember = this.call.policy().onFailure() == FailureMode.REMEMBER && !this.context.isReleaseRequested();
		if (!remember || this.call.policy().mode() == IdempotencyMode.LOCK) {
			releaseAfter(failure);
		}
		else if (remembered != null) {
			complete(remembered);
		}
		else {
			tombstone();
		}
	}

	/**
	 * The result was found in the business data.
	 */
	public void recovered() {
		this.events.publish(IdempotencyEvent.RECOVERED, operation());
	}

	/**
	 * The business data says "already done" and has no result: whatever happens now,
	 * nothing may run again.
	 * @param duplicate how the business data said it
	 * @param failure what the look-up failed with
	 * @return what the caller gets
	 */
	public IdempotencyException unavailable(Throwable duplicate, @Nullable Throwable failure) {
		tombstone();
		this.events.publish(IdempotencyEvent.RESULT_UNAVAILABLE, operation());
		IdempotencyException refusal = new IdempotencyResultUnavailableException(operation());
		refusal.addSuppressed(duplicate);
		if (failure != null) {
			refusal.addSuppressed(failure);
		}
		return refusal;
	}

	/**
	 * The call had no effect that counts: the key is free again.
	 */
	public void release() {
		releaseNow();
	}

	/** Nothing ran: there is no outcome to keep, whatever {@link FailureMode} says. */
	void notRun(Throwable failure) {
		releaseAfter(failure);
	}

	private void releaseAfter(Throwable failure) {
		Throwable notReleased = releaseNow();
		if (notReleased != null && notReleased != failure) {
			failure.addSuppressed(notReleased);
		}
	}

	private @Nullable Throwable releaseNow() {
		if (!this.ended.compareAndSet(false, true)) {
			return null;
		}
		// Before the release: a beat must never bring a released claim back to life.
		stopRenewing();
		boolean accepted;
		try {
			accepted = this.call.store().release(this.claim.key(), this.claim.id());
		}
		catch (Throwable ex) {
			// Whatever the store throws, the method's own exception wins.
			this.events.retrying("release", operation(), ex);
			// Refused then, it may have been applied now: that says nothing of a lost
			// claim.
			this.background.repeat("release", operation(),
					() -> this.call.store().release(this.claim.key(), this.claim.id()), this.context.retention(),
					(ignored) -> ended(IdempotencyEvent.RELEASED));
			return ex;
		}
		if (accepted) {
			ended(IdempotencyEvent.RELEASED);
		}
		else {
			lost();
		}
		return null;
	}

	private void end(Completion completion) {
		if (this.context.isReleaseRequested() && !this.claim.abandoned()) {
			releaseNow();
			return;
		}
		if (!this.ended.compareAndSet(false, true)) {
			return;
		}
		IdempotencyMode mode = this.call.policy().mode();
		if (mode == IdempotencyMode.REJECT) {
			this.events.publish(IdempotencyEvent.EXECUTED, operation());
			return;
		}
		// A release would keep the memory of the dead owner, but this call has succeeded.
		boolean forget = mode == IdempotencyMode.LOCK || this.context.isReleaseRequested();
		write(forget ? Completion.forget(this.claim) : completion);
	}

	private void write(Completion completion) {
		if (this.beats != null) {
			this.beats.completing();
		}
		boolean accepted;
		try {
			accepted = this.call.store().complete(completion);
		}
		catch (Throwable ex) {
			// The call has succeeded: whatever the store throws, nothing but a repetition
			// follows.
			this.events.retrying("complete", operation(), ex);
			OutstandingCompletion outstanding = new OutstandingCompletion(this, this.call, completion, this.events);
			this.background.repeat("complete", operation(), outstanding, this.context.retention(), outstanding);
			return;
		}
		written(completion, accepted);
	}

	void written(Completion completion, boolean accepted) {
		stopRenewing();
		if (!accepted) {
			lost();
			return;
		}
		if (completion.type() == Completion.Type.TOMBSTONE && !completion.retention().isZero()) {
			this.events.publish(IdempotencyEvent.TOMBSTONE, operation());
		}
		ended(IdempotencyEvent.EXECUTED);
	}

	private void lost() {
		if (this.beats == null || !this.beats.lost()) {
			this.events.claimLost(operation());
		}
		this.waiter.wakeUp(this.claim.key());
	}

	private void ended(IdempotencyEvent event) {
		this.events.publish(event, operation());
		this.waiter.wakeUp(this.claim.key());
	}

}
