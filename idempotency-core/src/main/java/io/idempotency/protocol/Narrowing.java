package io.idempotency.protocol;

import java.time.Duration;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.Internal;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Decides the end of a record from its {@link Ending}, the mode, the policy and the wish
 * of the application. {@link io.idempotency.engine.RecordWriter} writes it.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
public final class Narrowing {

	private final GuardedCall call;

	private final Claim claim;

	private final OwnerContext context;

	private final EncryptedResults results;

	private final ResultLog log;

	public Narrowing(GuardedCall call, Claim claim, OwnerContext context, EncryptedResults results, ResultLog log) {
		this.call = call;
		this.claim = claim;
		this.context = context;
		this.results = results;
		this.log = log;
	}

	/** Returns the end of the record. */
	public RecordEnd of(Ending ending) {
		if (ending instanceof Ending.NotRun notRun) {
			return RecordEnd.release(notRun.cause());
		}
		if (ending instanceof Ending.Failed failed) {
			boolean remember = this.call.policy().onFailure() == FailureMode.REMEMBER && !keepsNothing();
			return remember ? done(failed.remembered(), ResultKind.FAILURE, this.context.retention())
					: RecordEnd.release(failed.cause());
		}
		if (mode() == IdempotencyMode.LOCK) {
			return RecordEnd.complete(Completion.forget(this.claim, this.call.fingerprint()));
		}
		if (this.context.isReleaseRequested()) {
			// A release and not a deletion, so that the store still remembers a dead
			// earlier owner.
			return RecordEnd.release(null);
		}
		if (ending instanceof Ending.DoneUnkept unkept && unkept.why() != null && this.call.policy().replays()) {
			this.log.resultNotStored(this.call.operation(), unkept.why());
		}
		return done((ending instanceof Ending.Done done) ? done.result() : null, kind(ending), retention(ending));
	}

	/**
	 * Returns the end of a record whose transaction was committed. The work stays done
	 * even if something failed after the commit.
	 */
	public RecordEnd ofCommitted(Ending ending) {
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

	/**
	 * Returns the end of the record for a commit that comes before the result is known.
	 * @param attachWithin how long duplicates are told "in progress"
	 */
	public RecordEnd ofCommit(Duration attachWithin) {
		RecordEnd end = of(Ending.UNKEPT);
		return (!end.isKept() || !this.call.policy().keepsResult()) ? end : RecordEnd
			.attach(Completion.executed(this.claim, this.call.fingerprint(), attachWithin, this.context.retention()));
	}

	/**
	 * Encodes the result now, because its objects may change before the result is
	 * written.
	 */
	public Ending fix(Ending ending) {
		boolean kept = this.call.policy().replays() && !this.context.isReleaseRequested();
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

	/** Returns the answer for another call in the transaction that holds the ending. */
	public ClaimResult resultOf(Ending ending) {
		if (ending instanceof Ending.Done done && this.call.policy().keepsResult()) {
			StoredResult result = stored(done.result());
			if (result != null) {
				return new ClaimResult.Completed(result, retention(done));
			}
		}
		return new ClaimResult.Tombstone();
	}

	/** Returns whether the call leaves nothing to replay. */
	public boolean keepsNothing() {
		return mode() == IdempotencyMode.LOCK || this.context.isReleaseRequested();
	}

	private IdempotencyMode mode() {
		return this.call.policy().mode();
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
		boolean remembered = this.call.policy().onFailure() == FailureMode.REMEMBER;
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

	private RecordEnd done(Ending.@Nullable Encoding result, ResultKind kind, Duration retention) {
		if (mode() == IdempotencyMode.REJECT) {
			return RecordEnd.NOTHING;
		}
		StoredResult stored = (result != null && this.call.policy().keepsResult()) ? stored(result) : null;
		if (stored != null) {
			return RecordEnd.complete(Completion.result(this.claim, this.call.fingerprint(), stored, retention, kind));
		}
		return RecordEnd.complete(Completion.tombstone(this.claim, this.call.fingerprint(), retention, kind));
	}

	/** Returns the result for the store, {@code null} if the result cannot be kept. */
	private @Nullable StoredResult stored(Ending.Encoding result) {
		try {
			return this.results.encrypt(this.call, result.encode());
		}
		catch (Throwable ex) {
			// After success nothing may delete the record.
			this.log.resultNotStored(this.call.operation(), ex);
			return null;
		}
	}

}
