package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyContextHolder.Binding;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.Causes;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Turns the outcome of a call into the update of its record, by mode, policy, the request
 * of the application and the end of the database transaction. The first outcome counts.
 *
 * <table class="striped">
 * <caption>States</caption> <thead>
 * <tr>
 * <th>state</th>
 * <th>outcome of the call</th>
 * <th>end of the transaction</th>
 * </tr>
 * </thead> <tbody>
 * <tr>
 * <td>open</td>
 * <td>is written as {@link CallOutcome} describes; ended</td>
 * <td>–</td>
 * </tr>
 * <tr>
 * <td>in transaction</td>
 * <td>waits for the end of the transaction. In a caller's transaction only a success
 * waits; a failure is written at once.</td>
 * <td>caller's transaction committed: open; rolled back: open, and every outcome
 * releases. Transaction of the work committed: committed, or ended if the outcome was
 * written in it; rolled back: open, and the record is gone. Not known: unknown</td>
 * </tr>
 * <tr>
 * <td>committed</td>
 * <td>is written as a success, because the work committed; ended</td>
 * <td>–</td>
 * </tr>
 * <tr>
 * <td>unknown</td>
 * <td>nothing: the lease expires</td>
 * <td>–</td>
 * </tr>
 * <tr>
 * <td>ended</td>
 * <td>nothing</td>
 * <td>–</td>
 * </tr>
 * </tbody>
 * </table>
 *
 * In every state, an indeterminate outcome lets the lease expire, and a later outcome
 * counts. A failed call also lets its lease expire if the outcome of a nested call, or of
 * a commit of the work, is unknown.
 * <p>
 * Starts no thread, calls no store and reads no clock. Thread-safe; no lock is held while
 * a result is encoded.
 *
 * @hidden
 */
@Internal
public final class ClaimCompletion {

	/**
	 * How long duplicates are "in progress" while a result is attached after a commit.
	 */
	private static final Duration ATTACH_WITHIN = Duration.ofSeconds(10);

	private static final RecordUpdate RELEASE = new RecordUpdate.Release(null);

	private final GuardedCall call;

	private final Claim claim;

	private final ClaimContext context;

	private final ResultSealer sealer;

	private final EventPublisher log;

	private State state = State.OPEN;

	/** Whether the record is in the transaction of the work. */
	private boolean joined;

	/** Whether the work was rolled back, so that every outcome releases. */
	private boolean undone;

	/** The outcome that waits for the end of the transaction. */
	private @Nullable CallOutcome waiting;

	/** The update that was written in the transaction of the work. */
	private @Nullable RecordUpdate written;

	/** How the transaction of the work ended. */
	private @Nullable TransactionOutcome joinedEnd;

	/** The outcome of the last update. */
	private CallOutcome carriedOut = CallOutcome.DONE_UNKEPT;

	/**
	 * Creates the completion of a claim.
	 * @param around the context of the guarded call that makes this call, {@code null} if
	 * this call is not nested
	 */
	public ClaimCompletion(GuardedCall call, Claim claim, @Nullable IdempotencyContext around, ResultSealer sealer,
			EventPublisher log) {
		this.call = call;
		this.claim = claim;
		this.sealer = sealer;
		this.log = log;
		this.context = new ClaimContext(call, claim, around, this::hasEnded);
	}

	/** Returns the context for the guarded method. */
	public IdempotencyContext context() {
		return this.context;
	}

	/**
	 * Binds the context of a call to the current thread, and its operation and record to
	 * the MDC of the log, until the binding is closed.
	 */
	public Binding bind() {
		Binding bound = IdempotencyContextHolder.bind(this.context);
		Binding operation = inLog("idempotency.operation", this.context.operation());
		Binding id = inLog("idempotency.record", this.context.recordId());
		return () -> {
			id.close();
			operation.close();
			bound.close();
		};
	}

	private static Binding inLog(String key, String value) {
		String before = MDC.get(key);
		MDC.put(key, value);
		return () -> {
			if (before != null) {
				MDC.put(key, before);
			}
			else {
				MDC.remove(key);
			}
		};
	}

	/** Returns how long the result of the call is stored. */
	public Duration retention() {
		return this.context.retention();
	}

	/**
	 * Notes that a commit of the work may have failed: a failed call lets its lease
	 * expire.
	 */
	public void commitNotAnswered() {
		this.context.noteUnknownInside();
	}

	/** Notes that the call is inside its caller's transaction. */
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
	 * Returns how the transaction of the work ended, {@code null} while it is open or if
	 * the record is not in it.
	 */
	public synchronized @Nullable TransactionOutcome joinedEnd() {
		return this.joinedEnd;
	}

	private synchronized boolean isInTransaction() {
		return this.state == State.IN_TRANSACTION;
	}

	private synchronized boolean hasEnded() {
		return this.state == State.ENDED;
	}

	/** Returns the outcome of the last update. */
	public synchronized CallOutcome carriedOut() {
		return this.carriedOut;
	}

	/**
	 * Notes the failure of the work before a client sees it: a remembered rejection does
	 * not ask for a retry with the same key.
	 */
	public void failedWith(Throwable failure) {
		if (!remembersFailures()) {
			return;
		}
		for (Throwable each : Causes.of(failure).toList()) {
			boolean left = each instanceof IdempotencyStoreUnavailableException unavailable
					&& unavailable.reason() == IdempotencyStoreUnavailableException.Reason.MAY_HAVE_EXECUTED;
			if (each instanceof IdempotencyException rejection && !left) {
				rejection.remember();
			}
		}
	}

	/** Ends the call, or defers its outcome until the transaction ends. */
	public RecordUpdate ended(CallOutcome ending) {
		CallOutcome known = isInTransaction() ? encoded(ending) : ending;
		State at;
		synchronized (this) {
			if (isInTransaction() && (this.joined || this.waiting != null || known instanceof CallOutcome.Successful)) {
				this.waiting = (this.waiting != null) ? this.waiting : known;
				return RecordUpdate.HOLD;
			}
			at = end(known);
		}
		return write(known, at);
	}

	/** Returns the state in which the outcome was known. */
	private State end(CallOutcome ending) {
		State at = this.state;
		if (at != State.ENDED && at != State.UNKNOWN) {
			this.carriedOut = ending;
			this.state = (ending instanceof CallOutcome.Indeterminate) ? at : State.ENDED;
		}
		return at;
	}

	/**
	 * Returns the update to write before the commit of the transaction of the work, as
	 * far as the outcome is known. If the store rejects it, the transaction must not
	 * commit.
	 */
	public RecordUpdate beforeCommit() {
		CallOutcome known = waiting();
		RecordUpdate write = of((known != null) ? known : CallOutcome.DONE_UNKEPT);
		boolean attaches = known == null && write instanceof RecordUpdate.Complete complete
				&& complete.isWithoutResult() && this.call.options().keepResult();
		return !attaches ? write : new RecordUpdate.Attach(
				Completion.executed(this.claim, this.call.fingerprint(), ATTACH_WITHIN, this.context.retention()));
	}

	/** Notes that the store accepted the update before the commit. */
	public synchronized void writtenBeforeCommit(RecordUpdate write) {
		this.written = write;
	}

	/**
	 * Discards the waiting outcome, because the commit failed.
	 * @return whether one was waiting, so that none follows
	 */
	public synchronized boolean withdraw() {
		boolean waited = this.waiting != null;
		this.waiting = null;
		return waited;
	}

	/**
	 * Ends the caller's transaction, or the transaction of the work.
	 * @param failed whether the work or the commit failed: if the transaction of the work
	 * was rolled back, that failure, or the result that was found in the business data,
	 * is stored in a new transaction
	 */
	public RecordUpdate transactionEnded(TransactionOutcome outcome, boolean failed) {
		CallOutcome due;
		State at;
		synchronized (this) {
			if (!isInTransaction()) {
				return RecordUpdate.HOLD;
			}
			due = this.waiting;
			this.waiting = null;
			this.joinedEnd = this.joined ? outcome : null;
			RecordUpdate inside = this.written;
			boolean committed = outcome == TransactionOutcome.COMMITTED && (!this.joined || inside != null);
			this.undone = !committed && !(this.joined && failed);
			if (outcome == TransactionOutcome.UNKNOWN) {
				this.state = State.UNKNOWN;
				this.context.isUnknown();
			}
			else {
				this.state = (this.joined && committed) ? State.COMMITTED : State.OPEN;
			}
			if (this.state == State.COMMITTED && inside != null && !(inside instanceof RecordUpdate.Attach)) {
				this.carriedOut = (due != null) ? due : CallOutcome.DONE_UNKEPT;
				this.state = State.ENDED;
				return new RecordUpdate.Applied(inside);
			}
			if (due == null) {
				return RecordUpdate.HOLD;
			}
			at = end(due);
		}
		return write(due, at);
	}

	/** Returns the update for an outcome that was known in a state. */
	private RecordUpdate write(CallOutcome ending, State at) {
		if (at == State.ENDED) {
			return RecordUpdate.HOLD;
		}
		if (at == State.UNKNOWN || ending instanceof CallOutcome.Indeterminate) {
			return leave();
		}
		if (at == State.COMMITTED) {
			return ofCommitted(ending);
		}
		RecordUpdate write = of(ending);
		if (!(write instanceof RecordUpdate.Release)) {
			return write;
		}
		if (this.joined) {
			// The record was rolled back with the work.
			return new RecordUpdate.Applied(write);
		}
		boolean failed = !(ending instanceof CallOutcome.Successful);
		return (failed && !this.undone && this.context.isUnknownInside()) ? leave() : write;
	}

	private RecordUpdate leave() {
		this.context.isUnknown();
		return RecordUpdate.LEAVE;
	}

	private RecordUpdate of(CallOutcome ending) {
		if (this.undone) {
			return RELEASE;
		}
		if (ending instanceof CallOutcome.NotRun notRun) {
			return new RecordUpdate.Release(notRun.cause());
		}
		if (ending instanceof CallOutcome.Failed failed) {
			return remembersFailures() ? done(failed.remembered(), ResultKind.FAILURE, this.context.retention())
					: new RecordUpdate.Release(failed.cause());
		}
		if (mode() == IdempotencyMode.LOCK) {
			return new RecordUpdate.Complete(Completion.forget(this.claim, this.call.fingerprint()));
		}
		if (this.context.isReleaseRequested()) {
			// A release instead of a deletion, so that an abandoned predecessor stays
			// recorded.
			return RELEASE;
		}
		if (ending instanceof CallOutcome.SuccessWithoutResult unkept && unkept.why() != null
				&& this.call.options().replays()) {
			this.log.resultNotStored(this.call.operation(), unkept.why());
		}
		return done((ending instanceof CallOutcome.Done done) ? done.result() : null, kind(ending), retention(ending));
	}

	private RecordUpdate ofCommitted(CallOutcome ending) {
		if (this.context.isReleaseRequested()) {
			// No store releases a committed record, so the result is not attached.
			return done(null, kind(ending), retention(ending));
		}
		if (ending instanceof CallOutcome.Failed failed) {
			CallOutcome.Encoding remembered = failed.remembered();
			return of((remembered != null) ? new CallOutcome.Done(remembered)
					: new CallOutcome.SuccessWithoutResult(failed.cause()));
		}
		return of((ending instanceof CallOutcome.NotRun notRun) ? new CallOutcome.SuccessWithoutResult(notRun.cause())
				: ending);
	}

	/**
	 * Encodes the result now, because its objects may change before the result is
	 * written.
	 */
	private CallOutcome encoded(CallOutcome ending) {
		boolean kept = this.call.options().replays() && !this.context.isReleaseRequested();
		if (!kept || !(ending instanceof CallOutcome.Done done)) {
			return ending;
		}
		try {
			StoredResult result = done.result().encode();
			return new CallOutcome.Done(() -> result, done.kind(), done.keptAtMost());
		}
		catch (Throwable ex) {
			// After a success, nothing deletes the record.
			return new CallOutcome.SuccessWithoutResult(ex, done.kind(), done.keptAtMost());
		}
	}

	private synchronized @Nullable CallOutcome waiting() {
		return this.waiting;
	}

	/**
	 * Returns the claim result for another call with the key in the same transaction:
	 * {@code Acquired} if it may run on this claim, because nothing is stored.
	 * @param fingerprint the fingerprint of the other call
	 * @return the result, {@code null} if no outcome waits for the transaction
	 */
	public @Nullable ClaimResult again(Fingerprint fingerprint) {
		CallOutcome known = waiting();
		if (known == null) {
			return null;
		}
		if (!this.call.fingerprint().matches(fingerprint)) {
			return new ClaimResult.KeyReused();
		}
		if (keepsNothing()) {
			return new ClaimResult.Acquired(this.claim);
		}
		if (known instanceof CallOutcome.Done done && this.call.options().keepResult()) {
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

	/** If the policy remembers failures, it also remembers rejections. */
	private ResultKind kind(CallOutcome ending) {
		ResultKind kind = (ending instanceof CallOutcome.Successful success) ? success.kind() : ResultKind.SUCCESS;
		boolean remembered = this.call.options().onFailure() == FailureMode.REMEMBER;
		return (remembered && kind == ResultKind.REJECTION) ? ResultKind.FAILURE : kind;
	}

	private Duration retention(CallOutcome ending) {
		return this.context
			.retentionAtMost((ending instanceof CallOutcome.Successful success) ? success.keptAtMost() : null);
	}

	private RecordUpdate done(CallOutcome.@Nullable Encoding result, ResultKind kind, Duration retention) {
		if (mode() == IdempotencyMode.REJECT) {
			return RecordUpdate.NOTHING;
		}
		StoredResult stored = (result != null && this.call.options().keepResult()) ? stored(result) : null;
		return new RecordUpdate.Complete(
				(stored != null) ? Completion.result(this.claim, this.call.fingerprint(), stored, retention, kind)
						: Completion.withoutResult(this.claim, this.call.fingerprint(), retention, kind));
	}

	/** Returns the result for the store, {@code null} if it cannot be stored. */
	private @Nullable StoredResult stored(CallOutcome.Encoding result) {
		try {
			return this.sealer.encrypt(this.call, result.encode());
		}
		catch (Throwable ex) {
			// After a success, nothing deletes the record.
			this.log.resultNotStored(this.call.operation(), ex);
			return null;
		}
	}

	/** The state of the claim. */
	private enum State {

		/** The call is not in a transaction: its outcome is written at once. */
		OPEN,

		/** The call is in its caller's transaction, or the record in that of the work. */
		IN_TRANSACTION,

		/** The record committed with the work, without its result. */
		COMMITTED,

		/** The end of the transaction is not known. */
		UNKNOWN,

		/** The outcome was written. */
		ENDED

	}

}
