package io.idempotency.engine;

import java.util.concurrent.atomic.AtomicBoolean;

import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.Internal;
import io.idempotency.engine.RecordWriter.Write;
import io.idempotency.store.ClaimOrigin;
import org.jspecify.annotations.Nullable;

/**
 * One call as its observer is told about it: exactly one end, whichever part of the
 * engine sees it first. A call that owns its key ends with its claim, any other call with
 * its answer. No failure of the observer leaves this class. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class ObservedCall {

	/** A call without an observer; this object keeps no state. */
	static final ObservedCall NONE = new ObservedCall(null, new EventLog((event, operation) -> {
	}));

	private static final EngineObserver.Scope NO_SCOPE = () -> {
	};

	private final EngineObserver.@Nullable SeenCall observation;

	private final EventLog events;

	private final AtomicBoolean ended = new AtomicBoolean();

	private volatile boolean owner;

	/** The outcome of a call that ends well, where its end alone does not tell it. */
	private volatile @Nullable IdempotencyOutcome seenAs;

	private ObservedCall(EngineObserver.@Nullable SeenCall observation, EventLog events) {
		this.observation = observation;
		this.events = events;
	}

	/** Begins the observation of a call, if anybody wants to see it. */
	static ObservedCall start(EngineObserver observer, GuardedCall call, @Nullable Object parent, EventLog events) {
		try {
			EngineObserver.SeenCall observation = observer.started(call, parent);
			return (observation != null) ? new ObservedCall(observation, events) : NONE;
		}
		catch (Throwable ex) {
			// Errors too: an observer may be broken in any way, and the call still goes
			// on.
			events.notObserved(ex);
			return NONE;
		}
	}

	/** Makes this call the current one of the thread. */
	public EngineObserver.Scope open() {
		if (this.observation == null) {
			return NO_SCOPE;
		}
		EngineObserver.Scope scope;
		try {
			scope = this.observation.open();
		}
		catch (Throwable ex) {
			this.events.notObserved(ex);
			return NO_SCOPE;
		}
		return () -> {
			try {
				scope.close();
			}
			catch (Throwable ex) {
				this.events.notObserved(ex);
			}
		};
	}

	/**
	 * Returns what the observations of the work are below, {@code null} if nobody looks.
	 */
	public @Nullable Object observation() {
		return (this.observation != null) ? this.observation.observation() : null;
	}

	/** Notes that the call owns its key, so that the end of its claim is its end. */
	public void owns() {
		if (this != NONE) {
			this.owner = true;
		}
	}

	/** Notes the outcome of a call whose end alone does not tell it. */
	public void seenAs(IdempotencyOutcome outcome) {
		if (this != NONE) {
			this.seenAs = outcome;
		}
	}

	/**
	 * Ends the observation of a call that was given the result of the first one.
	 * @param first where the claim of the first call came from
	 */
	public void replayed(ClaimOrigin first) {
		if (this.observation == null) {
			return;
		}
		try {
			this.observation.replays(first);
		}
		catch (Throwable ex) {
			this.events.notObserved(ex);
		}
		end(IdempotencyOutcome.REPLAYED, null);
	}

	/** Notes that the call has returned to its caller. */
	public void returned() {
		if (this != NONE && !this.owner) {
			end(or(IdempotencyOutcome.EXECUTED), null);
		}
	}

	/** Notes that the call has thrown. */
	public void threw(Throwable thrown) {
		if (this != NONE && !this.owner) {
			end(or(outcome(thrown)), thrown);
		}
	}

	/**
	 * Notes that the claim of the call has ended.
	 * @param ending how the call has ended
	 * @param write what became of the record
	 * @param accepted whether the store has accepted that, as far as it is known
	 */
	public void claimEnded(Ending ending, Write write, boolean accepted) {
		if (this != NONE) {
			end(accepted ? or(outcome(ending, write)) : IdempotencyOutcome.LEASE_LOST, failure(ending));
		}
	}

	/** Notes that the claim of the call is left to its lease. */
	public void claimLeft() {
		end(IdempotencyOutcome.INDETERMINATE, null);
	}

	/** Ends the observation; the first end counts. */
	public void end(IdempotencyOutcome outcome, @Nullable Throwable failure) {
		if (this.observation == null || !this.ended.compareAndSet(false, true)) {
			return;
		}
		try {
			this.observation.ended(outcome, failure);
		}
		catch (Throwable ex) {
			this.events.notObserved(ex);
		}
	}

	private IdempotencyOutcome or(IdempotencyOutcome usual) {
		IdempotencyOutcome known = this.seenAs;
		return (known != null) ? known : usual;
	}

	private static IdempotencyOutcome outcome(Throwable thrown) {
		if (thrown instanceof IdempotencyInProgressException) {
			return IdempotencyOutcome.IN_PROGRESS;
		}
		if (thrown instanceof IdempotencyKeyReusedException) {
			return IdempotencyOutcome.KEY_REUSED;
		}
		if (thrown instanceof IdempotencyDuplicateException) {
			return IdempotencyOutcome.DUPLICATE;
		}
		if (thrown instanceof IdempotencyStoreUnavailableException) {
			return IdempotencyOutcome.STORE_UNAVAILABLE;
		}
		if (thrown instanceof IdempotencyResultUnavailableException) {
			return IdempotencyOutcome.RESULT_UNAVAILABLE;
		}
		if (thrown instanceof IdempotencyOutcomeUnknownException) {
			return IdempotencyOutcome.OUTCOME_UNKNOWN;
		}
		return (thrown instanceof IdempotencyTokenUnknownException) ? IdempotencyOutcome.TOKEN_UNKNOWN
				: IdempotencyOutcome.FAILED;
	}

	private static IdempotencyOutcome outcome(Ending ending, Write write) {
		if (ending instanceof Ending.Failed) {
			return IdempotencyOutcome.FAILED;
		}
		return (write.change() instanceof Write.Release) ? IdempotencyOutcome.RELEASED : IdempotencyOutcome.EXECUTED;
	}

	private static @Nullable Throwable failure(Ending ending) {
		if (ending instanceof Ending.Failed failed) {
			return failed.cause();
		}
		return (ending instanceof Ending.NotRun notRun) ? notRun.cause() : null;
	}

}
