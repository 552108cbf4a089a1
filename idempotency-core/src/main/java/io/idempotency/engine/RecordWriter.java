package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.engine.Upkeep.StoreUpkeep;
import io.idempotency.engine.WriteRepeater.OutstandingWrite;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * Writes the end of a record, and renews its claim until then. Throws no failure of the
 * store: such a write is repeated in the background.
 * <p>
 * A caller that blocks lets {@link #write} ask the store. Any other driver begins a
 * write, asks the store itself, and hands in what has come of it.
 *
 * @hidden
 */
@Internal
public final class RecordWriter {

	private final GuardedCall call;

	private final Claim claim;

	private final ClaimOrigin origin;

	private final ClaimCompletion end;

	private final StoreUpkeep upkeep;

	private final ConflictWaiter waiter;

	private final EventLog events;

	private final @Nullable Beat beat;

	public RecordWriter(GuardedCall call, Claim claim, ClaimOrigin origin, long sentNanos, ClaimCompletion end,
			StoreUpkeep upkeep, ConflictWaiter waiter, EventLog events) {
		this.call = call;
		this.claim = claim;
		this.origin = origin;
		this.end = end;
		this.upkeep = upkeep;
		this.waiter = waiter;
		this.events = events;
		boolean renewed = call.options().mode() != IdempotencyMode.REJECT && call.options().renewal();
		this.beat = renewed ? upkeep.renewer().start(call, claim.id(), origin, sentNanos) : null;
	}

	/** Limits the renewal to the retention, because the ending may never become known. */
	public void leavesTheThread() {
		if (this.beat != null) {
			this.beat.untilRetentionIsOver(this.call.options().retention());
		}
	}

	/**
	 * Bounds the renewal from now on.
	 * @param expired runs when the bound is reached
	 */
	public void renewAtMost(Duration duration, Runnable expired) {
		if (this.beat != null) {
			this.beat.atMost(duration, expired);
		}
	}

	/**
	 * Writes the end of the record.
	 * @return whether the store has accepted it, or does not answer yet
	 */
	public boolean write(Write write) {
		Sent sent = begin(write);
		if (sent == null) {
			return true;
		}
		boolean accepted;
		try {
			accepted = sent.outstanding.send();
		}
		catch (Throwable ex) {
			sent.failed(ex);
			return true;
		}
		sent.answered(accepted);
		return accepted;
	}

	/**
	 * Begins to write the end of the record.
	 * @return what has to be sent to the store, {@code null} if nothing has
	 */
	public @Nullable Sent begin(Write write) {
		if (write instanceof Write.Complete complete) {
			if (this.beat != null) {
				this.beat.completing();
			}
			return new Sent(write, new OutstandingCompletion(complete.completion()));
		}
		if (write instanceof Write.Release) {
			// The beat stops before the release: a beat must never renew a released
			// claim.
			stopRenewing();
			return new Sent(write, new OutstandingRelease());
		}
		applied(write.change());
		return null;
	}

	private void answered(Write write, boolean accepted) {
		stopRenewing();
		if (accepted) {
			applied(write);
			return;
		}
		if (this.beat == null || !this.beat.isLost()) {
			this.events.claimLost(this.call, this.origin);
		}
		this.waiter.wakeUp(this.claim.key());
	}

	/**
	 * Reports the end of the record, which was written by this class or by its
	 * transaction.
	 */
	private void applied(Write write) {
		if (write instanceof Write.Release) {
			if (!this.claim.abandoned()) {
				this.events.publish(IdempotencyEvent.RELEASED, this.call.operation());
			}
		}
		else {
			if (write instanceof Write.Complete complete) {
				completed(complete);
			}
			this.events.publish(IdempotencyEvent.EXECUTED, this.call.operation());
		}
		this.waiter.wakeUp(this.claim.key());
	}

	private void completed(Write.Complete complete) {
		if (complete.isWithoutResult()) {
			this.events.publish(IdempotencyEvent.RESULT_NOT_STORED, this.call.operation());
		}
		if (complete.isResult()) {
			this.upkeep.finished().add(this.claim.key());
		}
	}

	public void stopRenewing() {
		if (this.beat != null) {
			this.beat.stop();
		}
	}

	/**
	 * A write that is sent to the store.
	 *
	 * @hidden
	 */
	public final class Sent {

		private final Write write;

		private final OutstandingWrite outstanding;

		private Sent(Write write, OutstandingWrite outstanding) {
			this.write = write;
			this.outstanding = outstanding;
		}

		/**
		 * The store has answered. May ask the store who has a claim that was lost.
		 */
		public void answered(boolean accepted) {
			RecordWriter.this.upkeep.outage().answered();
			RecordWriter.this.answered(this.write, accepted);
		}

		/**
		 * The store has failed to answer. The method has ended, so any failure of the
		 * store leads to a repetition and to nothing else.
		 */
		public void failed(Throwable cause) {
			// The repetition comes first: the log may fail, too.
			RecordWriter.this.upkeep.repeater().repeat(this.outstanding, RecordWriter.this.end.retention());
			String operation = RecordWriter.this.call.operation();
			RecordWriter.this.upkeep.outage().failed(this.outstanding.verb(), operation, cause);
			RecordWriter.this.events.publish(IdempotencyEvent.STORE_RETRY, operation);
			if (this.write instanceof Write.Release release && release.cause() != null && release.cause() != cause) {
				release.cause().addSuppressed(cause);
			}
		}

	}

	/** A release that the store could not do at once. */
	private final class OutstandingRelease extends OutstandingWrite {

		OutstandingRelease() {
			super("release", RecordWriter.this.call.operation());
		}

		@Override
		public boolean send() {
			return RecordWriter.this.upkeep.store()
				.release(RecordWriter.this.claim.key(), RecordWriter.this.claim.id());
		}

		/**
		 * If the release is refused, an earlier attempt may have been applied. A refusal
		 * therefore shows neither a lost claim nor a free key.
		 */
		@Override
		protected void answered(boolean accepted) {
			if (accepted) {
				applied(new Write.Release(null));
			}
			RecordWriter.this.waiter.wakeUp(RecordWriter.this.claim.key());
		}

	}

	/**
	 * A completion that the store could not do at once; the claim is renewed meanwhile.
	 */
	private final class OutstandingCompletion extends OutstandingWrite {

		private static final int MAX_FAILURES_OF_RESULT = 5;

		private volatile Completion completion;

		private volatile int failuresOfResult;

		OutstandingCompletion(Completion completion) {
			super("complete", RecordWriter.this.call.operation());
			this.completion = completion;
		}

		@Override
		public boolean send() {
			return RecordWriter.this.upkeep.store().complete(this.completion);
		}

		/**
		 * Drops the result if a store that is up has failed to take it several times. The
		 * result may be too large for the store, for example, and the key would then be
		 * in progress for the whole retention.
		 */
		@Override
		protected void failed(Throwable cause) {
			if (this.completion.type() != Completion.Type.RESULT) {
				return;
			}
			int failures = this.failuresOfResult + 1;
			this.failuresOfResult = 0;
			// Any answer shows that the store is up.
			boolean taken = isTaken();
			RecordWriter.this.upkeep.outage().answered();
			if (taken) {
				return;
			}
			this.failuresOfResult = failures;
			if (failures >= MAX_FAILURES_OF_RESULT) {
				RecordWriter.this.events.resultNotStored(RecordWriter.this.call.operation(), cause);
				dropResult();
			}
		}

		/**
		 * Returns whether the store has the result even though its reply was a failure.
		 */
		private boolean isTaken() {
			IdempotencyStore store = RecordWriter.this.upkeep.store();
			Completion now = this.completion;
			Claim owned = RecordWriter.this.claim;
			boolean runs = store.renew(owned.key(), owned.id(), RecordWriter.this.call.options().lease());
			return !runs && store.find(owned.key(), now.fingerprint()).isPresent();
		}

		@Override
		protected void dropResult() {
			this.completion = new Write.Complete(this.completion).withoutResult().completion();
		}

		@Override
		protected long bytes() {
			Completion now = this.completion;
			return (now.result() != null) ? now.result().bytes().length : 0;
		}

		/**
		 * A refused completion without retention is no loss of the claim: an earlier
		 * attempt may have removed the record, and another call may have claimed the key
		 * since.
		 */
		@Override
		protected void answered(boolean accepted) {
			boolean forgotten = !accepted && this.completion.retention().isZero();
			RecordWriter.this.answered(new Write.Complete(this.completion), accepted || forgotten);
		}

		@Override
		protected void gaveUp() {
			stopRenewing();
		}

	}

	/**
	 * The change of a record at the end of its claim, as {@link ClaimCompletion} has
	 * decided it.
	 *
	 * @hidden
	 */
	public sealed interface Write {

		/** See {@link Nothing}. */
		Write NOTHING = new Nothing();

		/** See {@link Leave}. */
		Write LEAVE = new Leave();

		/** See {@link Hold}. */
		Write HOLD = new Hold();

		/** Returns what becomes of the record, whoever writes it. */
		default Write change() {
			return this;
		}

		/**
		 * The record is completed.
		 *
		 * @param completion the request to the store
		 * @hidden
		 */
		record Complete(Completion completion) implements Write {

			/** Returns whether duplicates are told that there is no result. */
			public boolean isWithoutResult() {
				return this.completion.type() == Completion.Type.WITHOUT_RESULT
						&& !this.completion.retention().isZero();
			}

			/** Returns whether duplicates are given a result. */
			public boolean isResult() {
				return this.completion.type() == Completion.Type.RESULT && !this.completion.retention().isZero();
			}

			/** Returns the same end for a store for which the result is too large. */
			public Complete withoutResult() {
				return new Complete(Completion.withoutResult(this.completion.claim(), this.completion.fingerprint(),
						this.completion.retention(), this.completion.kind()));
			}

		}

		/**
		 * The record says that the work is done; its result is attached later.
		 *
		 * @param completion the request to the store
		 * @hidden
		 */
		record Attach(Completion completion) implements Write {
		}

		/**
		 * The key is free again.
		 *
		 * @param cause the exception of a failed call, {@code null} if there is none
		 * @hidden
		 */
		record Release(@Nullable Throwable cause) implements Write {
		}

		/**
		 * The transaction of the work has made the change, or has taken the record with
		 * it: nothing is asked of the store.
		 *
		 * @param change what has become of the record
		 * @hidden
		 */
		record Applied(Write change) implements Write {
		}

		/**
		 * The claim is final, so nothing is written.
		 *
		 * @hidden
		 */
		record Nothing() implements Write {
		}

		/**
		 * The claim is not renewed any more and ends with its lease.
		 *
		 * @hidden
		 */
		record Leave() implements Write {
		}

		/**
		 * Nothing happens now: the ending is held until the transaction has ended, or
		 * comes too late.
		 *
		 * @hidden
		 */
		record Hold() implements Write {
		}

	}

}
