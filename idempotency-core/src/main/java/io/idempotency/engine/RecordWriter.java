package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.engine.EngineRuntime.StoreRuntime;
import io.idempotency.engine.WriteRepeater.OutstandingWrite;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * Writes the end of a record, and renews its claim until then. Does not throw failures of
 * the store: such a write is repeated in the background.
 * <p>
 * For a caller that blocks, {@link #write} calls the store. Any other engine begins a
 * write, calls the store itself, and passes the result to this class.
 *
 * @hidden
 */
@Internal
public final class RecordWriter extends OutstandingWrite {

	private static final int MAX_FAILURES_OF_RESULT = 5;

	private final GuardedCall call;

	private final Claim claim;

	private final ClaimOrigin origin;

	private final ClaimCompletion end;

	private final StoreRuntime store;

	private final EngineRuntime runtime;

	private final @Nullable LeaseHeartbeat heartbeat;

	/** The write that is sent to the store: a claim has at most one. */
	private volatile RecordUpdate write = RecordUpdate.NOTHING;

	private volatile boolean repeated;

	private volatile int failuresOfResult;

	public RecordWriter(GuardedCall call, Claim claim, ClaimOrigin origin, long sentNanos, ClaimCompletion end,
			StoreRuntime store, EngineRuntime runtime) {
		super("complete", call.operation());
		this.call = call;
		this.claim = claim;
		this.origin = origin;
		this.end = end;
		this.store = store;
		this.runtime = runtime;
		boolean renewed = call.options().mode() != IdempotencyMode.REJECT && call.options().renewal();
		this.heartbeat = renewed ? store.renewer().start(call, claim.id(), origin, sentNanos) : null;
	}

	/**
	 * Limits the renewal to the retention, because the outcome may never become known.
	 */
	public void leavesTheThread() {
		if (this.heartbeat != null) {
			this.heartbeat.untilRetentionIsOver(this.call.options().retention());
		}
	}

	/**
	 * Bounds the renewal from now on.
	 * @param expired runs when the bound is reached
	 */
	public void renewAtMost(Duration duration, Runnable expired) {
		if (this.heartbeat != null) {
			this.heartbeat.atMost(duration, expired);
		}
	}

	/**
	 * Writes the end of the record.
	 * @return whether the store accepted it, or has not responded yet
	 */
	public boolean write(RecordUpdate write) {
		if (begin(write) == null) {
			return true;
		}
		boolean accepted;
		try {
			accepted = send();
		}
		catch (Throwable ex) {
			// Includes errors: the method ended, so the write is repeated.
			failed(ex);
			return true;
		}
		answered(accepted);
		return accepted;
	}

	/**
	 * Begins to write the end of the record.
	 * @return this object if the write is to be sent to the store, else {@code null}
	 */
	public @Nullable RecordWriter begin(RecordUpdate write) {
		if (write instanceof RecordUpdate.Complete) {
			if (this.heartbeat != null) {
				this.heartbeat.completing();
			}
		}
		else if (write instanceof RecordUpdate.Release) {
			// Renewal stops before the release: it must never renew a released claim.
			stopRenewing();
			this.verb = "release";
		}
		else {
			applied(write.change());
			return null;
		}
		this.write = write;
		return this;
	}

	/**
	 * Reports the end of the record, which was written by this class or by its
	 * transaction.
	 */
	private void applied(RecordUpdate write) {
		if (write instanceof RecordUpdate.Release) {
			if (!this.claim.abandoned()) {
				this.runtime.events().publish(IdempotencyEvent.RELEASED, this.operation);
			}
		}
		else {
			if (write instanceof RecordUpdate.Complete complete) {
				completed(complete);
			}
			this.runtime.events().publish(IdempotencyEvent.EXECUTED, this.operation);
		}
		this.runtime.waiter().wakeUp(this.claim.key());
	}

	private void completed(RecordUpdate.Complete complete) {
		if (complete.isWithoutResult()) {
			this.runtime.events().publish(IdempotencyEvent.RESULT_NOT_STORED, this.operation);
		}
		if (complete.isResult()) {
			this.store.finished().add(this.claim.key());
		}
	}

	public void stopRenewing() {
		if (this.heartbeat != null) {
			this.heartbeat.stop();
		}
	}

	@Override
	boolean send() {
		Completion now = completion();
		return (now != null) ? this.store.store().complete(now)
				: this.store.store().release(this.claim.key(), this.claim.id());
	}

	/**
	 * Handles the response of the store. If the claim was lost, may read from the store
	 * which call owns it.
	 */
	@Override
	public void answered(boolean accepted) {
		this.store.breaker().answered();
		stopRenewing();
		// If the store rejects a repeated write, an earlier attempt may have removed
		// the record, and another call may have claimed the key since.
		boolean release = this.write instanceof RecordUpdate.Release;
		boolean removed = this.repeated
				&& (release || this.write instanceof RecordUpdate.Complete complete && complete.isRemoval());
		if (accepted || removed && !release) {
			applied(this.write);
			return;
		}
		this.runtime.waiter().wakeUp(this.claim.key());
		if (!removed && (this.heartbeat == null || !this.heartbeat.isLost())) {
			this.runtime.events().claimLost(this.call, this.origin);
		}
	}

	/**
	 * Handles the failure of the first attempt. The method ended, so any failure of the
	 * store only leads to a repetition.
	 */
	public void failed(Throwable cause) {
		this.repeated = true;
		this.store.repeater().repeat(this, this.end.retention());
		this.store.breaker().failed(this.verb, this.operation, cause);
		this.runtime.events().publish(IdempotencyEvent.STORE_RETRY, this.operation);
		if (this.write instanceof RecordUpdate.Release release && release.cause() != null && release.cause() != cause) {
			release.cause().addSuppressed(cause);
		}
	}

	/**
	 * Drops the result if a store that is available failed to store it several times. The
	 * result may be too large for the store, for example, and the key would then be in
	 * progress for the whole retention.
	 */
	@Override
	protected void failedAgain(Throwable cause) {
		Completion now = completion();
		if (now == null || now.type() != Completion.Type.RESULT) {
			return;
		}
		int failures = this.failuresOfResult + 1;
		this.failuresOfResult = 0;
		// Any response shows that the store is available.
		boolean stored = isStored(now);
		this.store.breaker().answered();
		if (!stored) {
			this.failuresOfResult = failures;
			if (failures >= MAX_FAILURES_OF_RESULT) {
				dropResult();
				this.runtime.events().resultNotStored(this.operation, cause);
			}
		}
	}

	/** Returns whether the store has the result although its reply was a failure. */
	private boolean isStored(Completion now) {
		IdempotencyStore store = this.store.store();
		boolean runs = store.renew(this.claim.key(), this.claim.id(), this.call.options().lease());
		return !runs && store.find(this.claim.key(), now.fingerprint()).isPresent();
	}

	private @Nullable Completion completion() {
		return (this.write instanceof RecordUpdate.Complete complete) ? complete.completion() : null;
	}

	@Override
	protected void dropResult() {
		if (this.write instanceof RecordUpdate.Complete complete) {
			this.write = complete.withoutResult();
		}
	}

	@Override
	protected long bytes() {
		Completion now = completion();
		return (now != null && now.result() != null) ? now.result().bytes().length : 0;
	}

	@Override
	protected void gaveUp() {
		stopRenewing();
	}

}
