package io.idempotency.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyMode;
import io.idempotency.engine.BusinessTransactions.Outcome;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * The claim of a running call, in the hands of its owner: it is renewed until the one
 * {@link Ending} that ends it.
 * <p>
 * A call that was made inside a database transaction, its own or somebody else's, has not
 * ended before that has: until then its ending is held. Ending never throws: what the
 * store could not do at once is repeated in the background, so that the caller always
 * gets his real result. Thread-safe; no lock is held while a store is asked.
 *
 * @since 0.1.0
 */
public final class OwnedClaim {

	private final GuardedCall call;

	private final Claim claim;

	private final StoreLine line;

	private final ConflictWaiter waiter;

	private final Events events;

	private final OwnerContext context;

	private final Beats.@Nullable Beat beat;

	private final AtomicBoolean ended = new AtomicBoolean();

	private Standing standing = Standing.FREE;

	/** Until its transaction has ended. */
	private @Nullable Ending held;

	OwnedClaim(GuardedCall call, Claim claim, long sentNanos, StoreLine line, ConflictWaiter waiter, Events events) {
		this.call = call;
		this.claim = claim;
		this.line = line;
		this.waiter = waiter;
		this.events = events;
		this.context = new OwnerContext(call, claim, this.ended::get);
		boolean renewed = call.policy().mode() != IdempotencyMode.REJECT && call.policy().renewal();
		this.beat = renewed ? line.beats().start(call, claim.id(), sentNanos) : null;
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
	 * The context to be bound to threads that run the guarded method.
	 * @return the context
	 */
	public IdempotencyContext context() {
		return this.context;
	}

	/** Whether an earlier owner died while running. */
	boolean isAbandoned() {
		return this.claim.abandoned();
	}

	GuardedCall call() {
		return this.call;
	}

	/** What it ended with, while its transaction is open. */
	synchronized @Nullable Ending held() {
		return this.held;
	}

	/**
	 * Whether another call in its transaction may run on it, because nothing is replayed.
	 */
	boolean keepsNothing() {
		return this.call.policy().mode() == IdempotencyMode.LOCK || this.context.isReleaseRequested();
	}

	/** What another call in its transaction gets, where the ending is held. */
	ClaimResult resultOf(Ending ending) {
		if (ending instanceof Ending.Done done) {
			try {
				return new ClaimResult.Completed(done.result().encode(), this.context.retention());
			}
			catch (RuntimeException ex) {
				this.events.resultNotStored(operation(), ex);
			}
		}
		return new ClaimResult.Tombstone();
	}

	/** The ending is known to nobody yet, and may never be. */
	void leavesTheThread() {
		if (this.beat != null) {
			this.beat.untilRetentionIsOver(this.call.policy().retention());
		}
	}

	/** The call is made inside somebody's transaction, and ends with it. */
	synchronized void surroundedByTransaction() {
		this.standing = Standing.SURROUNDED;
	}

	/** The record is in the transaction of the work. */
	synchronized void joined() {
		this.standing = Standing.JOINED;
	}

	/** Whether the record is in the transaction of the work, which is still open. */
	synchronized boolean isJoined() {
		return this.standing == Standing.JOINED;
	}

	/** The first ending ends the claim, later ones do nothing. */
	void end(Ending ending) {
		if (ending instanceof Ending.Later later) {
			leavesTheThread();
			later.ending()
				.whenComplete((known, failure) -> end((failure != null) ? new Ending.DoneUnkept(failure) : known));
			return;
		}
		Ending fixed = isInTransaction() ? fix(ending) : ending;
		Standing at = hold(fixed);
		if (at != null) {
			carryOut(fixed, at);
		}
	}

	private synchronized boolean isInTransaction() {
		return this.standing == Standing.JOINED || this.standing == Standing.SURROUNDED;
	}

	/** The result as it is now, whatever becomes of its objects until it is written. */
	private Ending fix(Ending ending) {
		boolean kept = this.call.policy().mode() == IdempotencyMode.REPLAY && !this.context.isReleaseRequested();
		if (!kept || !(ending instanceof Ending.Done done)) {
			return ending;
		}
		try {
			StoredResult result = done.result().encode();
			return new Ending.Done(() -> result);
		}
		catch (Throwable ex) {
			// After success nothing may delete the record.
			return new Ending.DoneUnkept(ex);
		}
	}

	/**
	 * Where the claim stands; {@code null} if the ending is held until its transaction
	 * has ended.
	 */
	private synchronized @Nullable Standing hold(Ending ending) {
		boolean done = ending instanceof Ending.Done || ending instanceof Ending.DoneUnkept;
		boolean holds = this.standing == Standing.JOINED
				|| this.standing == Standing.SURROUNDED && (done || this.held != null);
		if (!holds) {
			return this.standing;
		}
		if (this.held == null) {
			this.held = ending;
		}
		return null;
	}

	/** A surrounding transaction has ended. */
	void transactionEnded(Outcome outcome) {
		Ending due;
		Standing at;
		synchronized (this) {
			at = switch (outcome) {
				case COMMITTED -> Standing.FREE;
				case ROLLED_BACK -> Standing.UNDONE;
				case UNKNOWN -> Standing.UNKNOWN;
			};
			this.standing = at;
			due = this.held;
			this.held = null;
		}
		if (due != null) {
			carryOut(due, at);
		}
	}

	/**
	 * Writes what is known of the ending into the transaction that was joined.
	 * @param joining the store in the transaction
	 * @param attachWithin how long duplicates are told "in progress" while a result is
	 * attached that is not known yet
	 * @return what has happened if the transaction is committed
	 * @throws IdempotencyStoreException if the transaction must not be committed
	 */
	RecordEnd writeInside(IdempotencyStore joining, Duration attachWithin) {
		Ending known = held();
		RecordEnd write = narrow((known != null) ? known : Ending.UNKEPT);
		if (known == null && write.isKept()) {
			write = new RecordEnd(Act.ATTACH,
					Completion.executed(this.claim, this.call.fingerprint(), attachWithin, this.context.retention()),
					null);
		}
		boolean accepted = switch (write.act()) {
			case COMPLETE, ATTACH -> joining.complete(write.completion());
			case RELEASE -> joining.release(this.claim.key(), this.claim.id());
			case NOTHING -> true;
		};
		if (!accepted) {
			throw new IdempotencyStoreException("The claim of '" + operation() + "' is another's");
		}
		return write;
	}

	/** The joined transaction was committed, with what was written into it. */
	void committed(RecordEnd inside) {
		Ending due;
		synchronized (this) {
			this.standing = Standing.COMMITTED;
			due = this.held;
			this.held = null;
		}
		if (inside.act() != Act.ATTACH) {
			if (this.ended.compareAndSet(false, true)) {
				applied(inside);
			}
		}
		else if (due != null) {
			carryOut(due, Standing.COMMITTED);
		}
	}

	/** What the call has ended with is no more true. */
	synchronized void withdraw() {
		this.held = null;
	}

	/**
	 * The joined transaction is over, and nothing of it is there, or nobody knows.
	 * @param remembers whether what the call ends with, or has ended with, is worth being
	 * kept all the same: its failure, or what was found in the business data
	 */
	void undone(Outcome outcome, boolean remembers) {
		Ending due;
		Standing at;
		synchronized (this) {
			if (outcome == Outcome.UNKNOWN) {
				at = Standing.UNKNOWN;
			}
			else {
				at = remembers ? Standing.GONE : Standing.GONE_FOR_GOOD;
			}
			this.standing = at;
			due = this.held;
			this.held = null;
		}
		if (due != null) {
			carryOut(due, at);
		}
	}

	private void carryOut(Ending ending, Standing at) {
		if (ending instanceof Ending.OutOfSight || at == Standing.UNKNOWN) {
			stopRenewing();
			return;
		}
		if (!this.ended.compareAndSet(false, true)) {
			return;
		}
		switch (at) {
			case FREE, SURROUNDED -> write(narrow(ending));
			case UNDONE -> write(release(null));
			case COMMITTED -> write(narrow(neverReleased(ending)));
			case GONE -> {
				RecordEnd write = narrow(ending);
				if (write.act() == Act.RELEASE) {
					applied(write);
				}
				else {
					write(write);
				}
			}
			default -> applied(release(null));
		}
	}

	/** What was committed stays done, whatever has failed after it. */
	private static Ending neverReleased(Ending ending) {
		if (ending instanceof Ending.Failed failed) {
			Ending.Encoding remembered = failed.remembered();
			return (remembered != null) ? new Ending.Done(remembered) : new Ending.DoneUnkept(failed.cause());
		}
		if (ending instanceof Ending.NotRun notRun) {
			return new Ending.DoneUnkept(notRun.cause());
		}
		return ending;
	}

	/** What mode, policy and the wish of the application make of an ending. */
	private RecordEnd narrow(Ending ending) {
		IdempotencyMode mode = this.call.policy().mode();
		boolean releaseRequested = this.context.isReleaseRequested();
		if (ending instanceof Ending.NotRun notRun) {
			return release(notRun.cause());
		}
		if (ending instanceof Ending.Failed failed) {
			boolean remember = this.call.policy().onFailure() == FailureMode.REMEMBER;
			if (!remember || releaseRequested || mode == IdempotencyMode.LOCK) {
				return release(failed.cause());
			}
			return done(mode, failed.remembered());
		}
		if (mode == IdempotencyMode.LOCK) {
			return new RecordEnd(Act.COMPLETE, Completion.forget(this.claim), null);
		}
		if (releaseRequested) {
			// A dead predecessor stays remembered.
			return release(null);
		}
		if (ending instanceof Ending.DoneUnkept unkept && unkept.why() != null) {
			this.events.resultNotStored(operation(), unkept.why());
		}
		return done(mode, (ending instanceof Ending.Done done) ? done.result() : null);
	}

	private RecordEnd done(IdempotencyMode mode, Ending.@Nullable Encoding result) {
		if (mode == IdempotencyMode.REJECT) {
			return new RecordEnd(Act.NOTHING, null, null);
		}
		if (result != null) {
			try {
				return new RecordEnd(Act.COMPLETE, Completion.result(this.claim, this.call.fingerprint(),
						result.encode(), this.context.retention()), null);
			}
			catch (Throwable ex) {
				// After success nothing may delete the record.
				this.events.resultNotStored(operation(), ex);
			}
		}
		return new RecordEnd(Act.COMPLETE,
				Completion.tombstone(this.claim, this.call.fingerprint(), this.context.retention()), null);
	}

	private static RecordEnd release(@Nullable Throwable cause) {
		return new RecordEnd(Act.RELEASE, null, cause);
	}

	private void write(RecordEnd write) {
		switch (write.act()) {
			case RELEASE -> {
				// Before the release: a beat must never bring a released claim back to
				// life.
				stopRenewing();
				send(write, new OutstandingRelease());
			}
			case COMPLETE, ATTACH -> {
				if (this.beat != null) {
					this.beat.completing();
				}
				send(write, new OutstandingCompletion(write.completion()));
			}
			case NOTHING -> applied(write);
		}
	}

	private void send(RecordEnd write, Retries.Write outstanding) {
		boolean accepted;
		try {
			accepted = outstanding.send();
		}
		catch (Throwable ex) {
			// The method has ended: whatever the store throws, nothing but a repetition
			// follows.
			this.line.outage().failed(outstanding.verb(), operation(), ex);
			this.events.publish(IdempotencyEvent.STORE_RETRY, operation());
			if (write.cause() != null && write.cause() != ex) {
				write.cause().addSuppressed(ex);
			}
			this.line.retries().repeat(outstanding, this.context.retention());
			return;
		}
		this.line.outage().answered();
		answered(write, accepted);
	}

	private void answered(RecordEnd write, boolean accepted) {
		stopRenewing();
		if (accepted) {
			applied(write);
			return;
		}
		if (this.beat == null || !this.beat.isLost()) {
			this.events.claimLost(operation());
		}
		this.waiter.wakeUp(this.claim.key());
	}

	private void applied(RecordEnd write) {
		if (write.act() == Act.RELEASE) {
			if (!this.claim.abandoned()) {
				this.events.publish(IdempotencyEvent.RELEASED, operation());
			}
		}
		else {
			if (write.isTombstone()) {
				this.events.publish(IdempotencyEvent.TOMBSTONE, operation());
			}
			this.events.publish(IdempotencyEvent.EXECUTED, operation());
		}
		this.waiter.wakeUp(this.claim.key());
	}

	private void stopRenewing() {
		if (this.beat != null) {
			this.beat.stop();
		}
	}

	/** Where the claim stands towards the transaction of its call. */
	private enum Standing {

		/** In none, or in one that was committed: endings are carried out at once. */
		FREE,

		/** In somebody's transaction, apart from it. */
		SURROUNDED,

		/** Rolled back with what surrounded it: what was done is not there. */
		UNDONE,

		/** Written in the transaction of the work. */
		JOINED,

		/** Written and committed: never released any more. */
		COMMITTED,

		/** Rolled back with its record, and what remains to be said is written anew. */
		GONE,

		/** Rolled back with its record though the work had returned. */
		GONE_FOR_GOOD,

		/** Nobody knows how the transaction has ended. */
		UNKNOWN

	}

	/** What a store is asked to do at the end. */
	enum Act {

		COMPLETE, RELEASE,

		/** Nothing: the claim is final. */
		NOTHING,

		/** Done, and the result is attached later. */
		ATTACH

	}

	/**
	 * What becomes of the record.
	 *
	 * @param act what the store is asked to do
	 * @param written what is written by a completion
	 * @param cause what the caller gets, of a failed call
	 */
	record RecordEnd(Act act, @Nullable Completion written, @Nullable Throwable cause) {

		Completion completion() {
			if (this.written == null) {
				throw new IllegalStateException("Nothing is completed by " + this.act);
			}
			return this.written;
		}

		/** Whether duplicates find it. */
		boolean isKept() {
			return this.written != null && !this.written.retention().isZero();
		}

		boolean isTombstone() {
			return isKept() && completion().type() == Completion.Type.TOMBSTONE;
		}

	}

	/** A release that the store could not do at once. */
	private final class OutstandingRelease extends Retries.Write {

		OutstandingRelease() {
			super("release", OwnedClaim.this.operation());
		}

		@Override
		boolean send() {
			return OwnedClaim.this.call.store().release(OwnedClaim.this.claim.key(), OwnedClaim.this.claim.id());
		}

		/**
		 * Refused, it may have been applied before: that says nothing of a lost claim,
		 * and nothing of a free key.
		 */
		@Override
		void answered(boolean accepted) {
			if (accepted) {
				applied(release(null));
			}
			OwnedClaim.this.waiter.wakeUp(OwnedClaim.this.claim.key());
		}

	}

	/**
	 * A completion that the store could not do at once; the claim is renewed meanwhile.
	 */
	private final class OutstandingCompletion extends Retries.Write {

		private static final int MAX_FAILURES_OF_RESULT = 5;

		private volatile Completion completion;

		private volatile int failuresOfResult;

		OutstandingCompletion(Completion completion) {
			super("complete", OwnedClaim.this.operation());
			this.completion = completion;
		}

		@Override
		boolean send() {
			return OwnedClaim.this.call.store().complete(this.completion);
		}

		/**
		 * A store that is up and, time after time, does not take this result would keep
		 * the key in progress for the whole retention: one that is too large for it, say.
		 */
		@Override
		void failed(Throwable cause) {
			if (this.completion.type() != Completion.Type.RESULT) {
				return;
			}
			int failures = this.failuresOfResult + 1;
			this.failuresOfResult = 0;
			// Whatever it answers, it is up.
			OwnedClaim.this.call.store()
				.renew(OwnedClaim.this.claim.key(), OwnedClaim.this.claim.id(), OwnedClaim.this.policy().lease());
			this.failuresOfResult = failures;
			if (failures >= MAX_FAILURES_OF_RESULT) {
				OwnedClaim.this.events.resultNotStored(OwnedClaim.this.operation(), cause);
				dropResult();
			}
		}

		@Override
		void dropResult() {
			this.completion = Completion.tombstone(this.completion.claim(), this.completion.fingerprint(),
					this.completion.retention());
		}

		@Override
		long bytes() {
			Completion now = this.completion;
			return (now.result() != null) ? now.result().bytes().length : 0;
		}

		/**
		 * A record that was to be gone may be so, and be another's by now.
		 */
		@Override
		void answered(boolean accepted) {
			boolean forgotten = !accepted && this.completion.retention().isZero();
			OwnedClaim.this.answered(new RecordEnd(Act.COMPLETE, this.completion, null), accepted || forgotten);
		}

		@Override
		void gaveUp() {
			stopRenewing();
		}

	}

}
