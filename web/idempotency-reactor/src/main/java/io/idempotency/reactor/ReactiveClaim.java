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
 * The claim of a running call, for its owner. The claim is renewed until one
 * {@link CallOutcome} ends it, at most for the retention.
 * <p>
 * The end is written by a subscription of its own, which nobody can cancel. A failure of
 * the store does not reach the caller: the write is repeated in the background, and a
 * close of the engine waits for it. Thread-safe.
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

	/** Whether an outcome of the call in the transaction of its caller is known. */
	private boolean hasEnded;

	/** Whether the call was cancelled in the transaction of its caller. */
	private boolean cancelled;

	/**
	 * Creates the claim.
	 * @param sentNanos when the request was sent that has granted it
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
	 * Returns the claim of the call in whose work a subscription is, {@code null} if
	 * there is none. Of a call whose record is in the transaction of its work it is that
	 * of the call around it.
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
	 * Finds the result of work that was done before, by a call without a record. If the
	 * lookup finds nothing, the call failed. Without a lookup, or if it fails, the call
	 * is completed without a result: the work must not run again.
	 * @param <T> the result
	 * @param duplicate the failure that means that the work was done before
	 * @param lookUp looks the result up, {@code null} if no result can replace what
	 * failed
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

	/** Notes that the work continues without its caller, and bounds the renewal. */
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

	/** Returns how long the claim of a call without its caller is renewed at most. */
	public Duration longestDetached() {
		return this.upkeep.detachedCalls().longest();
	}

	/** Returns whether the work failed, and its transaction may have committed. */
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
	 * Binds the context to the current thread, for code that asks for it there, and makes
	 * this call the one that is observed.
	 * @return the binding, to be closed by the same thread
	 */
	public IdempotencyContextHolder.Binding enter() {
		IdempotencyContextHolder.Binding bound = this.end.bind();
		EngineObserver.Scope scope = this.observed.open();
		return () -> {
			scope.close();
			bound.close();
		};
	}

	/** Returns whether an earlier owner died while running. */
	boolean isAbandoned() {
		return this.claim.abandoned();
	}

	/** Limits the renewal to the retention, because the work may never end. */
	void leavesTheThread() {
		this.record.leavesTheThread();
	}

	/** Bounds the renewal from now on, because the caller is gone. */
	void boundRenewal(Duration duration) {
		this.record.renewAtMost(duration, () -> end(CallOutcome.OUT_OF_SIGHT));
	}

	/** Is told the failure of the work, before anybody is answered with it. */
	public void failedWith(Throwable failure) {
		this.failed = true;
		if (this.transactions.mayHaveCommitted(failure)) {
			this.mayHaveCommitted = true;
		}
		this.end.failedWith(failure);
	}

	/**
	 * Ends the claim with the first ending; later endings do nothing. The write begins at
	 * once, whoever subscribes.
	 * @param ending how the call has ended
	 * @return completes when the record has its end, or the write of it is left to be
	 * repeated; at once for an ending after which the work may go on. Never fails
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
	 * Binds the call to the transaction of its caller, or of its work: it completes if
	 * that commits, and releases the key if that is rolled back.
	 * @throws IllegalStateException if that has ended
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

	/** Returns the claim result for another call in the transaction of the caller. */
	@Nullable ClaimResult again(GuardedCall other) {
		return (this.surrounding == Surrounding.OPEN) ? this.end.again(other.fingerprint()) : null;
	}

	/**
	 * Bounds the renewal, because the transaction of the caller is about to end: its end
	 * may never be reported.
	 */
	public void surroundingCompletes() {
		this.record.renewAtMost(options().lease(), () -> surroundingEnded(TransactionOutcome.UNKNOWN, true));
	}

	/**
	 * Ends the transaction of the caller. Only the first end counts.
	 * @param commitTried whether the commit may have been sent: a rollback after that is
	 * known only by the failure of the call, which is seen later or not at all
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
	 * Returns the outcome of the call with regard to the transaction of the caller,
	 * {@code null} if the end of that decides.
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

	/** Notes that the record is in the transaction of the work. */
	void joined() {
		this.end.joined();
	}

	/**
	 * Writes the end of the record into the joined transaction, as far as it is known. A
	 * result that is too large for the database is left out: the work would else be
	 * rolled back and done again by each retry.
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

	/** Drops the ending that is held, because it is not true any more. */
	void withdraw() {
		this.end.withdraw();
	}

	/**
	 * Is told how the transaction of the work has ended.
	 * @param failed whether the work has failed, or the commit says that it was done
	 * before
	 * @return as {@link #end}, if an ending was told; never completes if none was
	 */
	Mono<Void> transactionEnded(TransactionOutcome outcome, boolean failed) {
		return carryOut(this.end.transactionEnded(outcome, failed));
	}

	private Mono<Void> carryOut(RecordUpdate write) {
		if (write instanceof RecordUpdate.Leave) {
			this.record.stopRenewing();
			this.observed.claimLeft();
			isOver();
			// Other code may wait for an ending that was held.
			this.ended.tryEmitEmpty();
			return Mono.empty();
		}
		if (!(write instanceof RecordUpdate.Defer)) {
			write(write);
		}
		// The transaction of the caller waits for the result of the call.
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
		// The report of a claim that was lost asks the store who has it now.
		if (accepted || !this.upkeep.runs(() -> told(() -> sent.answered(false), write, false))) {
			told(() -> sent.answered(accepted), write, accepted);
		}
	}

	/** Whatever the log throws, the caller gets the response. */
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
			// Away from the thread that may block.
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
		 * Returns the claim with a key that ends with this transaction, or {@code null}.
		 */
		@Nullable ReactiveClaim find(IdempotencyKey key);

		/** Notifies a claim of the end of this transaction. */
		void bind(ReactiveClaim claim);

	}

	/** The transaction of the caller. */
	private enum Surrounding {

		NONE, OPEN, ROLLED_BACK,

		/** Rolled back after its commit was tried. */
		COMMIT_FAILED,

		/** Committed, or its end is not known. */
		ENDED

	}

}
