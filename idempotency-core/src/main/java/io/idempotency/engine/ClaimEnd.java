package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.engine.RecordWriter.Write;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Causes;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Decides how a claim ends: from the {@link Ending} of its call, the mode, the policy,
 * the wish of the application and the end of a transaction. One ending ends the claim;
 * later ones do nothing.
 * <p>
 * A call inside a database transaction is done only when that has ended, so its ending is
 * held until then:
 *
 * <table class="striped">
 * <caption>What is written</caption> <thead>
 * <tr>
 * <th>the claim</th>
 * <th>ending</th>
 * <th>write</th>
 * </tr>
 * </thead> <tbody>
 * <tr>
 * <td>in no transaction</td>
 * <td>any</td>
 * <td>what {@link Ending} says</td>
 * </tr>
 * <tr>
 * <td rowspan="2">surrounded by a transaction</td>
 * <td>done</td>
 * <td>held; committed: what {@link Ending} says; rolled back: release; not known:
 * leave</td>
 * </tr>
 * <tr>
 * <td>not done</td>
 * <td>what {@link Ending} says, at once</td>
 * </tr>
 * <tr>
 * <td>joined to the transaction of its work</td>
 * <td>any</td>
 * <td>held; {@link #beforeCommit()} writes it, or that the work is done; committed: the
 * result is attached, and nothing is released; rolled back: the record is gone, and only
 * an ending that is remembered is written anew; not known: leave</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * A call that fails frees no key as long as nobody knows how a guarded call inside of it
 * has ended: its claim is left, too.
 * <p>
 * Pure: starts no thread, asks no store and reads no clock. Thread-safe; no lock is held
 * while a result is encoded.
 *
 * @hidden
 */
@Internal
public final class ClaimEnd {

	/**
	 * How long duplicates are told "in progress" while a result is attached after the
	 * commit.
	 */
	private static final Duration ATTACH_WITHIN = Duration.ofSeconds(10);

	private static final Write RELEASE = new Write.Release(null);

	private final GuardedCall call;

	private final Claim claim;

	private final OwnerContext context;

	private final ResultSealer sealer;

	private final ResultSealer.Log log;

	private State state = State.OPEN;

	/** Whether the record is in the transaction of the work. */
	private boolean joined;

	/** Whether an ending after a rollback is written, unless it is a release. */
	private boolean writesAfterRollback;

	/** The ending that is held until the transaction has ended. */
	private @Nullable Ending held;

	/** What the transaction of the work has written. */
	private @Nullable Write inside;

	/** How the transaction of the work has ended. */
	private @Nullable TransactionOutcome joinedEnd;

	/** The ending that was carried out last. */
	private Ending carriedOut = Ending.DONE_UNKEPT;

	/**
	 * Creates the end of a claim.
	 * @param around the context of the guarded call whose work makes this one,
	 * {@code null} if there is none
	 */
	public ClaimEnd(GuardedCall call, Claim claim, @Nullable IdempotencyContext around, ResultSealer sealer,
			ResultSealer.Log log) {
		this.call = call;
		this.claim = claim;
		this.sealer = sealer;
		this.log = log;
		this.context = new OwnerContext(call, claim, around, this::hasEnded);
	}

	/** Returns the context for the guarded method. */
	public IdempotencyContext context() {
		return this.context;
	}

	/** Returns how long the end of the call is kept. */
	public Duration retention() {
		return this.context.retention();
	}

	/**
	 * Notes that nobody knows whether the work of the call has committed: a failure
	 * leaves the claim to its lease.
	 */
	public void commitNotAnswered() {
		this.context.noteUnknownInside();
	}

	/** Notes that the call is made inside a transaction and ends with it. */
	public synchronized void surrounded() {
		this.state = State.IN_TRANSACTION;
	}

	/** Notes that the record is in the transaction of the work. */
	public synchronized void joined() {
		this.state = State.IN_TRANSACTION;
		this.joined = true;
	}

	/** Returns whether the record is in the transaction of the work, still open. */
	public synchronized boolean isJoined() {
		return this.joined && isInTransaction();
	}

	/**
	 * Returns how the transaction of the work has ended, {@code null} while it is open or
	 * if the record is not in it.
	 */
	public synchronized @Nullable TransactionOutcome joinedEnd() {
		return this.joinedEnd;
	}

	private synchronized boolean hasEnded() {
		return this.state == State.ENDED;
	}

	/** Returns the ending that the last write carries out. */
	public synchronized Ending carriedOut() {
		return this.carriedOut;
	}

	/**
	 * Is told the failure of the work, before anybody is answered with it. What is
	 * remembered must not ask to come back with the same key.
	 */
	public void failedWith(Throwable failure) {
		if (!remembersFailures()) {
			return;
		}
		for (Throwable each : Causes.of(failure).toList()) {
			boolean left = each instanceof IdempotencyStoreUnavailableException unavailable
					&& unavailable.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED;
			if (each instanceof IdempotencyException refusal && !left) {
				refusal.remember();
			}
		}
	}

	/** Ends the call, or holds its ending until the transaction ends. */
	public Write ended(Ending ending) {
		Ending fixed = isInTransaction() ? fix(ending) : ending;
		State at;
		synchronized (this) {
			boolean done = ending instanceof Ending.Done || ending instanceof Ending.DoneUnkept;
			if (isInTransaction() && (this.joined || done || this.held != null)) {
				this.held = (this.held != null) ? this.held : fixed;
				return Write.HOLD;
			}
			at = carryOut(fixed);
		}
		return write(fixed, at);
	}

	private synchronized boolean isInTransaction() {
		return this.state == State.IN_TRANSACTION;
	}

	/** Returns the state in which an ending is carried out. */
	private State carryOut(Ending ending) {
		State at = this.state;
		if (at != State.ENDED) {
			this.carriedOut = ending;
			this.state = (ending instanceof Ending.OutOfSight || at == State.UNKNOWN) ? at : State.ENDED;
		}
		return at;
	}

	/**
	 * Decides what is written before the commit of the transaction of the work, as far as
	 * the ending is known. If the store refuses it, the transaction must not commit.
	 */
	public Write beforeCommit() {
		Ending known = held();
		if (known != null) {
			return of(known);
		}
		Write write = of(Ending.DONE_UNKEPT);
		boolean attaches = write instanceof Write.Complete complete && complete.isWithoutResult()
				&& this.call.options().keepResult();
		return !attaches ? write : new Write.Attach(
				Completion.executed(this.claim, this.call.fingerprint(), ATTACH_WITHIN, this.context.retention()));
	}

	/** Is told that the store has taken what was decided before the commit. */
	public synchronized void writtenBeforeCommit(Write write) {
		this.inside = write;
	}

	/**
	 * Drops the ending that is held: the commit has failed, and it is not true any more.
	 * @return whether one was held, so that none will come
	 */
	public synchronized boolean withdraw() {
		boolean wasHeld = this.held != null;
		this.held = null;
		return wasHeld;
	}

	/**
	 * Is told how the surrounding transaction, or the transaction of the work, has ended.
	 * @param failed whether the work or the commit has failed: if its transaction was
	 * rolled back, that failure, or the result that was found in the business data, is
	 * kept all the same
	 */
	public Write transactionEnded(TransactionOutcome outcome, boolean failed) {
		Ending due;
		State at;
		synchronized (this) {
			if (!isInTransaction()) {
				// It has ended before.
				return Write.HOLD;
			}
			due = this.held;
			this.held = null;
			this.joinedEnd = this.joined ? outcome : null;
			this.writesAfterRollback = failed;
			this.state = after(outcome);
			if (this.state == State.UNKNOWN) {
				this.context.isUnknown();
			}
			Write written = this.inside;
			if (this.state == State.COMMITTED && written != null && !(written instanceof Write.Attach)) {
				carryOut((due != null) ? due : Ending.DONE_UNKEPT);
				this.state = State.ENDED;
				return new Write.Applied(written);
			}
			if (due == null) {
				return Write.HOLD;
			}
			at = carryOut(due);
		}
		return write(due, at);
	}

	private State after(TransactionOutcome outcome) {
		return switch (outcome) {
			case COMMITTED -> !this.joined ? State.OPEN : (this.inside != null) ? State.COMMITTED : State.ROLLED_BACK;
			case ROLLED_BACK -> State.ROLLED_BACK;
			case UNKNOWN -> State.UNKNOWN;
		};
	}

	/** Decides the write of an ending, in the state in which it was carried out. */
	private Write write(Ending ending, State at) {
		if (at == State.ENDED) {
			return Write.HOLD;
		}
		if (ending instanceof Ending.OutOfSight) {
			return leave();
		}
		return switch (at) {
			case OPEN, IN_TRANSACTION -> ofOpen(ending);
			case COMMITTED -> ofCommitted(ending);
			case ROLLED_BACK -> ofRolledBack(ending);
			case UNKNOWN -> Write.LEAVE;
			case ENDED -> Write.HOLD;
		};
	}

	private Write leave() {
		this.context.isUnknown();
		return Write.LEAVE;
	}

	/** The failure may be that of a part whose end nobody knows, in whatever words. */
	private Write ofOpen(Ending ending) {
		Write write = of(ending);
		boolean frees = write instanceof Write.Release
				&& (ending instanceof Ending.Failed || ending instanceof Ending.NotRun);
		return (frees && this.context.isUnknownInside()) ? leave() : write;
	}

	private Write of(Ending ending) {
		if (ending instanceof Ending.NotRun notRun) {
			return new Write.Release(notRun.cause());
		}
		if (ending instanceof Ending.Failed failed) {
			return remembersFailures() ? done(failed.remembered(), ResultKind.FAILURE, this.context.retention())
					: new Write.Release(failed.cause());
		}
		if (mode() == IdempotencyMode.LOCK) {
			return new Write.Complete(Completion.forget(this.claim, this.call.fingerprint()));
		}
		if (this.context.isReleaseRequested()) {
			// A release and not a deletion, so that the store still remembers a dead
			// earlier owner.
			return RELEASE;
		}
		if (ending instanceof Ending.DoneUnkept unkept && unkept.why() != null && this.call.options().replays()) {
			this.log.resultNotStored(this.call.operation(), unkept.why());
		}
		return done((ending instanceof Ending.Done done) ? done.result() : null, kind(ending), retention(ending));
	}

	/** The work stays done even if something failed after the commit. */
	private Write ofCommitted(Ending ending) {
		if (this.context.isReleaseRequested() && mode() != IdempotencyMode.LOCK) {
			// The record says by now that the call is done, and no store releases such a
			// record: the result that is not wanted is not attached.
			return done(null, kind(ending), retention(ending));
		}
		if (ending instanceof Ending.Failed failed) {
			Ending.Encoding remembered = failed.remembered();
			return of((remembered != null) ? new Ending.Done(remembered) : new Ending.DoneUnkept(failed.cause()));
		}
		return of((ending instanceof Ending.NotRun notRun) ? new Ending.DoneUnkept(notRun.cause()) : ending);
	}

	/** A record that was rolled back with the work needs no release. */
	private Write ofRolledBack(Ending ending) {
		if (!this.joined) {
			return RELEASE;
		}
		Write write = this.writesAfterRollback ? of(ending) : RELEASE;
		return (write instanceof Write.Release) ? new Write.Applied(write) : write;
	}

	/**
	 * Encodes the result now, because its objects may change before the result is
	 * written.
	 */
	private Ending fix(Ending ending) {
		boolean kept = this.call.options().replays() && !this.context.isReleaseRequested();
		if (!kept || !(ending instanceof Ending.Done done)) {
			return ending;
		}
		try {
			StoredResult result = done.result().encode();
			return new Ending.Done(() -> result, done.kind(), done.keptAtMost());
		}
		catch (Throwable ex) {
			// After success nothing may delete the record.
			return new Ending.DoneUnkept(ex, done.kind(), done.keptAtMost());
		}
	}

	private synchronized @Nullable Ending held() {
		return this.held;
	}

	/**
	 * Returns the answer for another call in the transaction while that holds the ending:
	 * {@code Acquired} if it may run on this claim, because nothing is kept.
	 * @param fingerprint the fingerprint of the other call
	 * @return the answer, {@code null} if no ending is held
	 */
	public @Nullable ClaimResult again(Fingerprint fingerprint) {
		Ending known = held();
		if (known == null) {
			return null;
		}
		if (!this.call.fingerprint().matches(fingerprint)) {
			return new ClaimResult.KeyReused();
		}
		if (keepsNothing()) {
			return new ClaimResult.Acquired(this.claim);
		}
		if (known instanceof Ending.Done done && this.call.options().keepResult()) {
			StoredResult result = stored(done.result());
			if (result != null) {
				return new ClaimResult.Completed(result, retention(done));
			}
		}
		return new ClaimResult.ResultUnavailable();
	}

	private boolean remembersFailures() {
		return this.call.options().onFailure() == FailureMode.REMEMBER && !keepsNothing();
	}

	private boolean keepsNothing() {
		return mode() == IdempotencyMode.LOCK || this.context.isReleaseRequested();
	}

	private IdempotencyMode mode() {
		return this.call.options().mode();
	}

	/**
	 * Returns the kind of the result. If the policy remembers failures, it remembers
	 * refusals, too.
	 */
	private ResultKind kind(Ending ending) {
		ResultKind kind = ResultKind.SUCCESS;
		if (ending instanceof Ending.Done done) {
			kind = done.kind();
		}
		else if (ending instanceof Ending.DoneUnkept unkept) {
			kind = unkept.kind();
		}
		boolean remembered = this.call.options().onFailure() == FailureMode.REMEMBER;
		return (remembered && kind == ResultKind.REFUSAL) ? ResultKind.FAILURE : kind;
	}

	private Duration retention(Ending ending) {
		Duration atMost = null;
		if (ending instanceof Ending.Done done) {
			atMost = done.keptAtMost();
		}
		else if (ending instanceof Ending.DoneUnkept unkept) {
			atMost = unkept.keptAtMost();
		}
		return this.context.retentionAtMost(atMost);
	}

	private Write done(Ending.@Nullable Encoding result, ResultKind kind, Duration retention) {
		if (mode() == IdempotencyMode.REJECT) {
			return Write.NOTHING;
		}
		StoredResult stored = (result != null && this.call.options().keepResult()) ? stored(result) : null;
		return new Write.Complete(
				(stored != null) ? Completion.result(this.claim, this.call.fingerprint(), stored, retention, kind)
						: Completion.withoutResult(this.claim, this.call.fingerprint(), retention, kind));
	}

	/** Returns the result for the store, {@code null} if the result cannot be kept. */
	private @Nullable StoredResult stored(Ending.Encoding result) {
		try {
			return this.sealer.encrypt(this.call, result.encode());
		}
		catch (Throwable ex) {
			// After success nothing may delete the record.
			this.log.resultNotStored(this.call.operation(), ex);
			return null;
		}
	}

	/** Where the claim stands towards the transaction of its call. */
	private enum State {

		/**
		 * The call is in no transaction, or the surrounding one was committed: endings
		 * are carried out at once.
		 */
		OPEN,

		/** The call is in a surrounding transaction, or in that of its work. */
		IN_TRANSACTION,

		/** The record committed with the work: a failure does not release it any more. */
		COMMITTED,

		/** The work was rolled back, and the record if it was in the transaction. */
		ROLLED_BACK,

		/** The end of the transaction is not known. */
		UNKNOWN,

		/** An ending was carried out. */
		ENDED

	}

}
