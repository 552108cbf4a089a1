package io.idempotency.engine;

import java.time.Duration;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyMode;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.Completion;
import io.idempotency.store.ResultKind;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * What mode, policy and the wish of the application make of an {@link Ending}. Decides
 * only; {@link RecordWriter} writes.
 */
final class Narrowing {

	private final GuardedCall call;

	private final Claim claim;

	private final OwnerContext context;

	private final EncryptedResults results;

	private final Events events;

	Narrowing(GuardedCall call, Claim claim, OwnerContext context, EncryptedResults results, Events events) {
		this.call = call;
		this.claim = claim;
		this.context = context;
		this.results = results;
		this.events = events;
	}

	/** What becomes of the record. */
	RecordEnd of(Ending ending) {
		if (ending instanceof Ending.NotRun notRun) {
			return RecordEnd.release(notRun.cause());
		}
		if (ending instanceof Ending.Failed failed) {
			boolean remember = this.call.policy().onFailure() == FailureMode.REMEMBER && !keepsNothing();
			return remember ? done(failed.remembered(), ResultKind.FAILURE, this.context.retention())
					: RecordEnd.release(failed.cause());
		}
		if (mode() == IdempotencyMode.LOCK) {
			return RecordEnd.complete(Completion.forget(this.claim));
		}
		if (this.context.isReleaseRequested()) {
			// A dead predecessor stays remembered.
			return RecordEnd.release(null);
		}
		if (ending instanceof Ending.DoneUnkept unkept && unkept.why() != null && this.call.policy().replays()) {
			this.events.resultNotStored(this.call.operation(), unkept.why());
		}
		return done((ending instanceof Ending.Done done) ? done.result() : null, kind(ending), retention(ending));
	}

	/** What was committed stays done, whatever has failed after it. */
	RecordEnd ofCommitted(Ending ending) {
		if (ending instanceof Ending.Failed failed) {
			Ending.Encoding remembered = failed.remembered();
			return of((remembered != null) ? new Ending.Done(remembered) : new Ending.DoneUnkept(failed.cause()));
		}
		return of((ending instanceof Ending.NotRun notRun) ? new Ending.DoneUnkept(notRun.cause()) : ending);
	}

	/**
	 * The call will have ended with the commit, and its result is not known before.
	 * @param attachWithin how long duplicates are told "in progress"
	 */
	RecordEnd ofCommit(Duration attachWithin) {
		RecordEnd end = of(Ending.UNKEPT);
		return (!end.isKept() || !this.call.policy().keepsResult()) ? end : RecordEnd
			.attach(Completion.executed(this.claim, this.call.fingerprint(), attachWithin, this.context.retention()));
	}

	/** The result as it is now, whatever becomes of its objects until it is written. */
	Ending fix(Ending ending) {
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

	/** What another call in the transaction gets that holds the ending. */
	ClaimResult resultOf(Ending ending) {
		if (ending instanceof Ending.Done done && this.call.policy().keepsResult()) {
			StoredResult result = stored(done.result());
			if (result != null) {
				return new ClaimResult.Completed(result, retention(done));
			}
		}
		return new ClaimResult.Tombstone();
	}

	/** Whether nothing is replayed. */
	boolean keepsNothing() {
		return mode() == IdempotencyMode.LOCK || this.context.isReleaseRequested();
	}

	private IdempotencyMode mode() {
		return this.call.policy().mode();
	}

	/** Where failures are to be remembered, refusals are, too. */
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

	/** What the store is given, {@code null} if the result cannot be kept. */
	private @Nullable StoredResult stored(Ending.Encoding result) {
		try {
			return this.results.encrypt(this.call, result.encode());
		}
		catch (Throwable ex) {
			// After success nothing may delete the record.
			this.events.resultNotStored(this.call.operation(), ex);
			return null;
		}
	}

}
