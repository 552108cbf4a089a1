package io.idempotency.engine;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyOptions;
import io.idempotency.Internal;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.EngineRuntime.StoreRuntime;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * The claim of a running call, for its owner. The claim is renewed until one
 * {@link CallOutcome} ends it.
 * <p>
 * A call inside a database transaction, its own or a surrounding one, is done only when
 * that transaction ended. Until then its outcome is deferred. If a call in a surrounding
 * transaction fails, its claim ends at once.
 * <p>
 * A failure of the store does not reach the caller: the write is repeated in the
 * background, and the caller always receives the real result. Only a write inside the
 * transaction of the work fails that transaction. Thread-safe; no lock is held during
 * store operations.
 *
 * @hidden
 */
@Internal
public final class OwnedClaim {

	private final GuardedCall call;

	private final Claim claim;

	private final ClaimCompletion end;

	private final RecordWriter record;

	private final ObservedCall observed;

	private final EngineRuntime runtime;

	private volatile boolean over;

	private volatile boolean mayHaveCommitted;

	OwnedClaim(GuardedCall call, Claim claim, ClaimOrigin origin, long sentNanos, StoreRuntime store,
			EngineRuntime runtime, ObservedCall observed) {
		this.call = call;
		this.claim = claim;
		this.end = new ClaimCompletion(call, claim, IdempotencyContextHolder.get(), runtime.sealer(), runtime.events());
		this.record = new RecordWriter(call, claim, origin, sentNanos, this.end, store, runtime);
		this.observed = observed;
		this.runtime = runtime;
		observed.owns();
	}

	/** Returns the name of the operation. */
	public String operation() {
		return this.call.operation();
	}

	/** Returns the options of the operation. */
	public IdempotencyOptions options() {
		return this.call.options();
	}

	/** Returns the context for the threads that run the guarded method. */
	public IdempotencyContext context() {
		return this.end.context();
	}

	/** Binds the context to the current thread. */
	IdempotencyContextHolder.Binding bind() {
		return this.end.bind();
	}

	/**
	 * Binds the context to the current thread, and makes this call the observed call of
	 * the thread.
	 * @return the binding, to be closed by the same thread
	 */
	public IdempotencyContextHolder.Binding enter() {
		IdempotencyContextHolder.Binding bound = bind();
		EngineObserver.Scope scope = this.observed.open();
		return () -> {
			scope.close();
			bound.close();
		};
	}

	/** Returns the observation of the call. */
	ObservedCall observed() {
		return this.observed;
	}

	/** Returns whether an earlier owner crashed while the call ran. */
	boolean isAbandoned() {
		return this.claim.abandoned();
	}

	/**
	 * Returns the result for another call in the transaction for which the outcome of
	 * this call is deferred: {@code Acquired} if it may run on this claim, {@code null}
	 * if no outcome is deferred.
	 */
	@Nullable ClaimResult again(GuardedCall other) {
		return this.end.again(other.fingerprint());
	}

	/**
	 * Limits the renewal to the retention, because the outcome may never become known.
	 */
	void leavesTheThread() {
		this.record.leavesTheThread();
	}

	/**
	 * Notes that the caller received its response or disconnected, and that the work
	 * continues. From now on the claim is renewed for a bounded time, after which the
	 * outcome is unknown. The end of the work still completes or releases the claim.
	 */
	public void detach() {
		boundRenewal();
		this.runtime.detachedCalls().add(this, operation());
		if (this.over) {
			this.runtime.detachedCalls().remove(this);
		}
	}

	/** Bounds the renewal from now on, because the caller may have disconnected. */
	void boundRenewal() {
		this.record.renewAtMost(this.runtime.detachedCalls().longest(),
				() -> carryOut(this.end.ended(CallOutcome.OUT_OF_SIGHT)));
	}

	/**
	 * Notes that the work of the call may have committed. After a failure, the key stays
	 * claimed until the lease expires.
	 */
	public void commitNotAnswered() {
		this.mayHaveCommitted = true;
		this.end.commitNotAnswered();
	}

	/** Returns whether {@link #commitNotAnswered()} was called. */
	public boolean mayHaveCommitted() {
		return this.mayHaveCommitted;
	}

	/** Notes that the call is in a surrounding transaction and ends with it. */
	void surrounded() {
		this.end.surrounded();
	}

	/** Notes that the record is in the transaction of the work. */
	void joined() {
		this.end.joined();
	}

	/**
	 * Returns whether the record is in the transaction of the work, which is still open.
	 */
	boolean isJoined() {
		return this.end.isJoined();
	}

	/**
	 * Returns how the transaction of the work ended, {@code null} while it is open or if
	 * the record is not in it.
	 */
	public @Nullable TransactionOutcome joinedEnd() {
		return this.end.joinedEnd();
	}

	/** Notes the failure of the work before a client receives it. */
	public void failedWith(Throwable failure) {
		this.end.failedWith(failure);
	}

	/** Ends the claim with the first outcome; later outcomes have no effect. */
	void end(CallOutcome ending) {
		if (ending instanceof CallOutcome.Deferred later) {
			leavesTheThread();
			later.ending().whenComplete((known, failure) -> {
				try (EngineObserver.Scope current = this.observed.open()) {
					end((failure != null) ? new CallOutcome.SuccessWithoutResult(failure) : known);
				}
			});
			return;
		}
		this.over = true;
		this.runtime.detachedCalls().remove(this);
		carryOut(this.end.ended(ending));
	}

	/**
	 * Writes the end of the record into the joined transaction, as far as it is known. A
	 * result that is too large for the database is left out: otherwise the work would be
	 * rolled back and repeated by each retry. After any other failure nothing more is
	 * sent: the driver may have reconnected, and the write would be in another
	 * transaction.
	 * @throws IdempotencyStoreException if the transaction must not be committed
	 */
	void writeBeforeCommit(IdempotencyStore joining) {
		RecordUpdate write = this.end.beforeCommit();
		try {
			send(write, joining);
		}
		catch (StoredResult.TooLargeException ex) {
			if (!(write instanceof RecordUpdate.Complete complete)) {
				throw ex;
			}
			write = complete.withoutResult();
			send(write, joining);
			this.runtime.events().resultNotStored(operation(), ex);
		}
		this.end.writtenBeforeCommit(write);
	}

	private void send(RecordUpdate write, IdempotencyStore joining) {
		boolean accepted = true;
		if (write instanceof RecordUpdate.Complete complete) {
			accepted = joining.complete(complete.completion());
		}
		else if (write instanceof RecordUpdate.Attach attach) {
			accepted = joining.complete(attach.completion());
		}
		else if (write instanceof RecordUpdate.Release) {
			accepted = joining.release(this.claim.key(), this.claim.id());
		}
		if (!accepted) {
			throw new IdempotencyStoreException("The claim of '" + operation() + "' belongs to another call");
		}
	}

	/**
	 * Discards the deferred outcome, because it is no longer valid.
	 * @return whether an outcome was deferred, so that none follows
	 */
	boolean withdraw() {
		return this.end.withdraw();
	}

	/**
	 * Handles the end of the transaction.
	 * @param failed whether the work or the commit failed
	 */
	void transactionEnded(TransactionOutcome outcome, boolean failed) {
		carryOut(this.end.transactionEnded(outcome, failed));
	}

	private void carryOut(RecordUpdate write) {
		if (write instanceof RecordUpdate.Leave) {
			this.record.stopRenewing();
			this.observed.claimLeft();
		}
		else if (!(write instanceof RecordUpdate.Defer)) {
			boolean accepted = this.record.write(write);
			this.observed.claimEnded(this.end.carriedOut(), write, accepted);
		}
	}

}
