package io.idempotency.reactor;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.Internal;
import io.idempotency.engine.EngineRuntime;
import io.idempotency.engine.EngineObserver;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.ClaimCompletion;
import io.idempotency.engine.EngineRuntime.DetachedCalls;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.AsyncResults;
import io.idempotency.engine.GuardedCall;
import io.idempotency.engine.WorkTransactions.WorkOutcomes;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.engine.RecordUpdate;
import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.Claim;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.StoredResult;
import io.idempotency.engine.EventPublisher;
import io.idempotency.engine.RecordWriter;
import io.idempotency.engine.EngineRuntime.StoreRuntime;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The claim of a running call. The claim is renewed until a {@link CallOutcome} ends it,
 * at most for the retention.
 * <p>
 * The completion is written by a dedicated subscription, which cannot be cancelled. The
 * caller does not receive a failure of the store. The write is repeated in the
 * background, and closing the engine waits for it. Thread-safe.
 *
 * @hidden
 */
@Internal
public final class ReactiveClaim {

	private final GuardedCall call;

	private final Claim claim;

	private final ReactiveIdempotencyStore store;

	private final EngineRuntime upkeep;

	private final ClaimCompletion end;

	private final RecordWriter record;

	private final ObservedCall observed;

	private final EventPublisher events;

	private final Executor resumption;

	private final Context context;

	private final Sinks.Empty<Void> ended = Sinks.empty();

	private final AtomicBoolean underWay = new AtomicBoolean(true);

	private final AtomicBoolean detached = new AtomicBoolean();

	private final WorkOutcomes transactions;

	private volatile boolean mayHaveCommitted;

	private volatile boolean failed;

	private volatile Surrounding surrounding = Surrounding.NONE;

	/** Whether the outcome of the call in the transaction of its caller is known. */
	private boolean hasEnded;

	/** Whether the call was cancelled in the transaction of its caller. */
	private boolean cancelled;

	/**
	 * Creates the claim.
	 * @param sentNanos the time at which the granted request was sent
	 */
	ReactiveClaim(GuardedCall call, Claim claim, long sentNanos, ClaimOrigin origin, StoreRuntime upkeep,
			ReactiveIdempotencyStore store, EngineRuntime parts, ObservedCall observed, Executor resumption,
			Context context) {
		this.call = call;
		this.claim = claim;
		this.store = store;
		this.upkeep = parts;
		this.end = new ClaimCompletion(call, claim, ReactiveIdempotencyContext.of(context), parts.sealer(),
				parts.events());
		this.record = new RecordWriter(call, claim, origin, sentNanos, this.end, upkeep, parts);
		this.observed = observed;
		this.events = parts.events();
		this.resumption = resumption;
		this.transactions = parts.transactions();
		this.context = context;
		observed.owns();
		this.upkeep.workBegins();
	}

	/**
	 * Returns the claim of the call whose work contains a subscription.
	 * @return the claim, {@code null} outside a guarded call. For a call whose record
	 * joins the transaction of its work, it is the claim of the surrounding call
	 */
	public static @Nullable ReactiveClaim of(ContextView subscription) {
		return subscription.getOrDefault(ReactiveClaim.class, null);
	}

	/** Returns the context of the work of this claim. */
	public Context inside(Context outside) {
		Context observing = ReactiveIdempotencyContext.below(outside, this.observed);
		return ReactiveIdempotencyContext.with(observing, context()).put(ReactiveClaim.class, this);
	}

	/**
	 * Finds the result of work that was already done by a call without a record. If the
	 * lookup finds nothing, the call failed. Without a lookup, or if the lookup fails,
	 * the call completes without a result, because the work must not run again.
	 * @param <T> the result
	 * @param duplicate the failure that means that the work was already done
	 * @param lookUp looks up the result, {@code null} if the failed part cannot be
	 * replaced
	 * @return the result; fails with the rejection, or with the failure of the work
	 */
	public <T> Mono<T> recoverDuplicate(Throwable duplicate, @Nullable Supplier<Mono<T>> lookUp) {
		Throwable cause = AsyncResults.cause(Exceptions.unwrap(duplicate));
		if (lookUp == null || !options().recoverable()) {
			return notFound(cause, null);
		}
		return Mono.defer(() -> {
			try (IdempotencyContextHolder.Binding binding = enter()) {
				return lookUp.get();
			}
		}).doOnNext((value) -> {
			this.observed.seenAs(IdempotencyOutcome.RECOVERED);
			this.events.publish(IdempotencyEvent.RECOVERED, operation());
		}).onErrorResume((failure) -> notFound(cause, failure)).switchIfEmpty(Mono.error(() -> {
			this.events.isNoDuplicate(options(), cause, null);
			return duplicate;
		}));
	}

	private <T> Mono<T> notFound(Throwable duplicate, @Nullable Throwable failure) {
		return Mono.defer(() -> {
			this.observed.seenAs(IdempotencyOutcome.RESULT_UNAVAILABLE);
			return end(CallOutcome.DONE_UNKEPT);
		}).then(Mono.error(() -> this.events.resultNotFound(operation(), duplicate, failure)));
	}

	/** Marks the call as detached from its caller, and limits the renewal. */
	public void detached() {
		if (this.underWay.get() && this.detached.compareAndSet(false, true)) {
			DetachedCalls calls = this.upkeep.detachedCalls();
			calls.add(this, operation());
			boundRenewal(calls.longest());
			if (!this.underWay.get()) {
				calls.remove(this);
			}
		}
	}

	/** Returns the maximum time for which the claim of a detached call is renewed. */
	public Duration longestDetached() {
		return this.upkeep.detachedCalls().longest();
	}

	/** Returns whether the work failed but its transaction may have committed. */
	public boolean mayHaveCommitted() {
		return this.mayHaveCommitted;
	}

	/** Returns the name of the operation. */
	public String operation() {
		return this.call.operation();
	}

	/** Returns the options of the operation. */
	public IdempotencyOptions options() {
		return this.call.options();
	}

	/** Returns the context for the guarded work. */
	public IdempotencyContext context() {
		return this.end.context();
	}

	/**
	 * Binds the context to the current thread, and makes this call the current
	 * observation.
	 * @return the binding, which the same thread must close
	 */
	public IdempotencyContextHolder.Binding enter() {
		IdempotencyContextHolder.Binding bound = this.end.bind();
		EngineObserver.Scope scope = this.observed.open();
		return () -> {
			scope.close();
			bound.close();
		};
	}

	/** Returns whether the process of an earlier call crashed while its work ran. */
	boolean isAbandoned() {
		return this.claim.abandoned();
	}

	/** Limits the renewal to the retention, because the work may never end. */
	void leavesTheThread() {
		this.record.leavesTheThread();
	}

	/** Limits the renewal from now on, because the caller disconnected. */
	void boundRenewal(Duration duration) {
		this.record.renewAtMost(duration, () -> end(CallOutcome.OUT_OF_SIGHT));
	}

	/** Records the failure of the work before the caller receives it. */
	public void failedWith(Throwable failure) {
		this.failed = true;
		if (this.transactions.mayHaveCommitted(failure)) {
			this.mayHaveCommitted = true;
		}
		this.end.failedWith(failure);
	}

	/**
	 * Ends the claim. Only the first outcome counts. The write begins at once,
	 * independently of any subscription.
	 * @param ending the outcome of the call
	 * @return completes when the record is written, or its write is scheduled for
	 * repetition; completes at once if the work may still be in progress. Never fails
	 */
	public Mono<Void> end(CallOutcome ending) {
		if (ending instanceof CallOutcome.Deferred later) {
			later.ending()
				.whenComplete((known,
						failure) -> end((failure != null) ? new CallOutcome.SuccessWithoutResult(failure) : known));
			return Mono.empty();
		}
		if (this.mayHaveCommitted) {
			this.end.commitNotAnswered();
		}
		CallOutcome known = afterTransaction(ending);
		return (known != null) ? carryOut(this.end.ended(known)) : Mono.empty();
	}

	/**
	 * Binds the call to the transaction of its caller or of its work. The call completes
	 * if the transaction commits. The key is released if the transaction is rolled back.
	 * @throws IllegalStateException if the transaction has ended
	 */
	public void endsWith(SurroundingTransaction transaction) {
		this.end.surrounded();
		this.surrounding = Surrounding.OPEN;
		transaction.bind(this);
	}

	/** Returns whether the call is or was in a transaction of its caller. */
	public boolean isSurrounded() {
		return this.surrounding != Surrounding.NONE;
	}

	/** Returns the key of the call. */
	public IdempotencyKey key() {
		return this.call.key();
	}

	/**
	 * Returns the claim result for another call in the same transaction of the caller.
	 */
	@Nullable ClaimResult again(GuardedCall other) {
		return (this.surrounding == Surrounding.OPEN) ? this.end.again(other.fingerprint()) : null;
	}

	/**
	 * Limits the renewal, because the transaction of the caller is about to end. Its end
	 * may never be reported.
	 */
	public void surroundingCompletes() {
		this.record.renewAtMost(options().lease(), () -> surroundingEnded(TransactionOutcome.UNKNOWN, true));
	}

	/**
	 * Handles the end of the caller's transaction. Only the first end counts.
	 * @param commitTried whether the commit may have been sent. Only the failure of the
	 * call shows a rollback after that, and it may be seen later or never
	 * @return completes when the record is written
	 */
	public Mono<Void> surroundingEnded(TransactionOutcome outcome, boolean commitTried) {
		boolean late;
		synchronized (this) {
			if (this.surrounding != Surrounding.OPEN) {
				return Mono.empty();
			}
			boolean rolledBack = outcome == TransactionOutcome.ROLLED_BACK;
			if (rolledBack && commitTried && !this.hasEnded && !this.cancelled) {
				this.surrounding = Surrounding.COMMIT_FAILED;
				this.failed = false;
				return Mono.empty();
			}
			rolledBack &= !commitTried;
			this.surrounding = rolledBack ? Surrounding.ROLLED_BACK : Surrounding.ENDED;
			late = this.cancelled;
		}
		TransactionOutcome known = (outcome == TransactionOutcome.COMMITTED
				|| this.surrounding == Surrounding.ROLLED_BACK) ? outcome : TransactionOutcome.UNKNOWN;
		Mono<Void> written = carryOut(this.end.transactionEnded(known, false));
		return late ? end(CallOutcome.OUT_OF_SIGHT) : this.hasEnded ? written : Mono.empty();
	}

	/**
	 * Returns the outcome of the call in the transaction of the caller, {@code null} if
	 * the end of the transaction decides.
	 */
	private @Nullable CallOutcome afterTransaction(CallOutcome ending) {
		TransactionOutcome outcome;
		synchronized (this) {
			if (this.surrounding == Surrounding.OPEN) {
				this.cancelled |= ending instanceof CallOutcome.Indeterminate;
				this.hasEnded |= !this.cancelled;
				return this.cancelled ? null : ending;
			}
			if (this.surrounding == Surrounding.ROLLED_BACK && ending instanceof CallOutcome.Indeterminate) {
				return new CallOutcome.NotRun(null);
			}
			if (this.surrounding != Surrounding.COMMIT_FAILED) {
				return ending;
			}
			boolean answered = this.failed && !this.mayHaveCommitted;
			outcome = answered ? TransactionOutcome.ROLLED_BACK : TransactionOutcome.UNKNOWN;
			this.surrounding = answered ? Surrounding.ROLLED_BACK : Surrounding.ENDED;
		}
		this.end.transactionEnded(outcome, false);
		return afterTransaction(ending);
	}

	/** Marks the record as part of the work's transaction. */
	void joined() {
		this.end.joined();
	}

	/**
	 * Writes the known outcome into the joined transaction. A result that is too large
	 * for the database is omitted. Otherwise the work would be rolled back and repeated
	 * by each retry.
	 * @param joining the store in that transaction
	 * @return fails if the transaction must not be committed
	 */
	Mono<Void> writeBeforeCommit(ReactiveIdempotencyStore joining) {
		return Mono.defer(() -> {
			RecordUpdate write = this.end.beforeCommit();
			Mono<Void> sent = send(write, joining);
			if (!(write instanceof RecordUpdate.Complete complete)) {
				return sent;
			}
			return sent.onErrorResume(StoredResult.TooLargeException.class,
					(ex) -> send(complete.withoutResult(), joining)
						.doOnSuccess((done) -> this.events.resultNotStored(operation(), ex)));
		});
	}

	private Mono<Void> send(RecordUpdate write, ReactiveIdempotencyStore joining) {
		Mono<Boolean> written = Mono.just(true);
		if (write instanceof RecordUpdate.Complete complete) {
			written = joining.complete(complete.completion());
		}
		else if (write instanceof RecordUpdate.Attach attach) {
			written = joining.complete(attach.completion());
		}
		else if (write instanceof RecordUpdate.Release) {
			written = joining.release(this.claim.key(), this.claim.id());
		}
		return written.doOnNext((accepted) -> {
			if (!accepted) {
				throw new IdempotencyStoreException("The claim of '" + operation() + "' belongs to another call");
			}
			this.end.writtenBeforeCommit(write);
		}).then();
	}

	/** Discards the deferred outcome, because it is obsolete. */
	void withdraw() {
		this.end.withdraw();
	}

	/**
	 * Handles the end of the work's transaction.
	 * @param failed whether the work failed, or the commit reported that it was already
	 * done
	 * @return as {@link #end} if the call has an outcome, otherwise never completes
	 */
	Mono<Void> transactionEnded(TransactionOutcome outcome, boolean failed) {
		return carryOut(this.end.transactionEnded(outcome, failed));
	}

	private Mono<Void> carryOut(RecordUpdate write) {
		if (write instanceof RecordUpdate.Leave) {
			this.record.stopRenewing();
			this.observed.claimLeft();
			isOver();
			// Other code may wait for a deferred outcome.
			this.ended.tryEmitEmpty();
			return Mono.empty();
		}
		if (!(write instanceof RecordUpdate.Defer)) {
			write(write);
		}
		// The caller's transaction waits for the result of the call.
		return (write instanceof RecordUpdate.Defer && this.surrounding == Surrounding.OPEN) ? Mono.empty()
				: this.ended.asMono();
	}

	private void write(RecordUpdate write) {
		RecordWriter sent = this.record.begin(write);
		if (sent == null) {
			ended(write, true);
			return;
		}
		DedicatedSubscription.ask(this.context,
				() -> (write instanceof RecordUpdate.Complete complete) ? this.store.complete(complete.completion())
						: this.store.release(this.claim.key(), this.claim.id()),
				(accepted) -> answered(sent, write, accepted),
				(failure) -> told(() -> sent.failed(failure), write, true));
	}

	private void answered(RecordWriter sent, RecordUpdate write, boolean accepted) {
		// The report of a lost claim queries the store for the current claim.
		if (accepted || !this.upkeep.runs(() -> told(() -> sent.answered(false), write, false))) {
			told(() -> sent.answered(accepted), write, accepted);
		}
	}

	/**
	 * Runs a report. If logging throws an exception, the caller still receives the
	 * result.
	 */
	private void told(Runnable report, RecordUpdate write, boolean accepted) {
		try {
			report.run();
		}
		finally {
			ended(write, accepted);
		}
	}

	private void ended(RecordUpdate write, boolean accepted) {
		this.observed.claimEnded(this.end.carriedOut(), write, accepted);
		isOver();
		if (accepted) {
			this.ended.tryEmitEmpty();
		}
		else {
			// Continues outside the thread that may block.
			this.resumption.execute(this.ended::tryEmitEmpty);
		}
	}

	private void isOver() {
		if (this.underWay.compareAndSet(true, false)) {
			this.upkeep.workEnds();
			this.upkeep.detachedCalls().remove(this);
		}
	}

	/**
	 * A reactive transaction of a caller.
	 *
	 * @hidden
	 */
	public interface SurroundingTransaction {

		/**
		 * Returns the claim of a key that ends with this transaction, or {@code null}.
		 */
		@Nullable ReactiveClaim find(IdempotencyKey key);

		/** Notifies a claim of the end of this transaction. */
		void bind(ReactiveClaim claim);

	}

	/** The transaction of the caller. */
	private enum Surrounding {

		NONE, OPEN, ROLLED_BACK,

		/** Rolled back after an attempt to commit. */
		COMMIT_FAILED,

		/** Committed, or ended with an unknown outcome. */
		ENDED

	}

}
