package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyMode;
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

	private volatile Duration retention;

	private volatile boolean releaseRequested;

	Execution(GuardedCall call, Claim claim, Background background, ConflictWaiter waiter, Events events) {
		this.call = call;
		this.claim = claim;
		this.background = background;
		this.waiter = waiter;
		this.events = events;
		this.retention = call.policy().retention();
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
		return this.releaseRequested;
	}

	/**
	 * The context to be bound to threads that run the guarded method.
	 * @return the context
	 */
	public IdempotencyContext context() {
		return new Context();
	}

	/**
	 * Done, with a result that duplicates get; in the modes that keep none, just done.
	 * @param result the result
	 */
	public void complete(StoredResult result) {
		end(Completion.result(this.claim, this.call.fingerprint(), result, this.retention));
	}

	/**
	 * Done, and the result cannot be kept.
	 */
	public void tombstone() {
		if (end(Completion.tombstone(this.claim, this.call.fingerprint(), this.retention))
				&& this.call.policy().mode() == IdempotencyMode.REPLAY) {
			this.events.publish(IdempotencyEvent.TOMBSTONE, operation());
		}
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
		boolean remember = this.call.policy().onFailure() == FailureMode.REMEMBER && !this.releaseRequested;
		if (!remember || this.call.policy().mode() == IdempotencyMode.LOCK) {
			RuntimeException notReleased = releaseNow();
			if (notReleased != null && notReleased != failure) {
				failure.addSuppressed(notReleased);
			}
		}
		else if (remembered != null) {
			complete(remembered);
		}
		else {
			tombstone();
		}
	}

	/**
	 * The call had no effect that counts: the key is free again.
	 */
	public void release() {
		releaseNow();
	}

	private @Nullable RuntimeException releaseNow() {
		if (!this.ended.compareAndSet(false, true)) {
			return null;
		}
		// Before the release: a beat must never bring a released claim back to life.
		stopRenewing();
		RuntimeException failure = null;
		try {
			this.call.store().release(this.claim.key(), this.claim.id());
		}
		catch (RuntimeException ex) {
			failure = ex;
			this.events.retrying("release", operation(), ex);
			this.background.repeat("release", operation(),
					() -> this.call.store().release(this.claim.key(), this.claim.id()), this.retention,
					(accepted) -> this.waiter.wakeUp(this.claim.key()));
		}
		this.events.publish(IdempotencyEvent.RELEASED, operation());
		this.waiter.wakeUp(this.claim.key());
		return failure;
	}

	private boolean end(Completion completion) {
		if (this.releaseRequested && !this.claim.abandoned()) {
			releaseNow();
			return false;
		}
		if (!this.ended.compareAndSet(false, true)) {
			return false;
		}
		IdempotencyMode mode = this.call.policy().mode();
		if (mode == IdempotencyMode.REJECT) {
			this.events.publish(IdempotencyEvent.EXECUTED, operation());
			return true;
		}
		// A release would keep the memory of the dead owner, but this call has succeeded.
		boolean forget = mode == IdempotencyMode.LOCK || this.releaseRequested;
		write(forget ? Completion.forget(this.claim) : completion);
		return true;
	}

	private void write(Completion completion) {
		boolean accepted;
		try {
			accepted = this.call.store().complete(completion);
		}
		catch (Throwable ex) {
			// The call has succeeded: whatever the store throws, nothing but a repetition
			// follows.
			this.events.retrying("complete", operation(), ex);
			this.background.repeat("complete", operation(), () -> this.call.store().complete(completion),
					this.retention, this::written);
			return;
		}
		written(accepted);
	}

	private void written(boolean accepted) {
		stopRenewing();
		if (accepted) {
			this.events.publish(IdempotencyEvent.EXECUTED, operation());
		}
		else if (this.beats == null || !this.beats.lost()) {
			this.events.claimLost(operation());
		}
		this.waiter.wakeUp(this.claim.key());
	}

	private final class Context implements IdempotencyContext {

		@Override
		public String key() {
			return Execution.this.claim.key().value();
		}

		@Override
		public String operation() {
			return Execution.this.operation();
		}

		@Override
		public long fence() {
			return Execution.this.claim.fence();
		}

		@Override
		public void retention(Duration retention) {
			if (retention.isZero() || retention.isNegative()) {
				throw new IllegalArgumentException("retention must be positive, not " + retention);
			}
			Execution.this.retention = retention;
		}

		@Override
		public void release() {
			Execution.this.releaseRequested = true;
		}

	}

}
