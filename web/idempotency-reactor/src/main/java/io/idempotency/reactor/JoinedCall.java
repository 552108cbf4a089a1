package io.idempotency.reactor;

import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.idempotency.IdempotencyOutcome;
import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.engine.AsyncResults;
import io.idempotency.engine.ConflictWaiter;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.EngineRuntime;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.TransactionLostException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.Exceptions;
import reactor.core.Scannable.Attr;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;

/**
 * One attempt of a call whose record commits in the database transaction of its work.
 * Claim, work and completion are in one transaction, which is never cancelled.
 * <p>
 * A duplicate waits for the transaction of the first call. If that transaction belongs to
 * this node, the duplicate waits without a connection. Otherwise it waits for the row
 * lock of the record. If a deadlock ends the transaction before the work runs, the call
 * begins another attempt. Cancelled work is rolled back.
 *
 * @param <T> the result of the guarded work
 */
final class JoinedCall<T> {

	private static final Logger logger = LoggerFactory.getLogger(JoinedCall.class);

	private final ReactiveCall<T> caller;

	private final ReactiveTransactionStarter transactions;

	private final ReactiveIdempotencyStore joining;

	private final AtomicInteger attempts;

	private final boolean waits;

	private final ConflictWaiter.Hold key;

	private final ClaimOrigin origin;

	private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.BEGINNING);

	private final Sinks.Empty<T> cancelled = Sinks.empty();

	private volatile Disposable timer = Disposables.disposed();

	private volatile TransactionOutcome outcome = TransactionOutcome.UNKNOWN;

	private volatile @Nullable ReactiveGuardedInvocation<T> run;

	/** Ends the call after the transaction ended as planned. */
	private volatile @Nullable Runnable then;

	/** Whether the transaction ends with a rollback. */
	private volatile boolean undone;

	/** The failure of the write before the commit. */
	private volatile @Nullable Throwable writeFailure;

	private volatile boolean recovered;

	/** Whether the claim ends after the transaction. */
	private volatile boolean later;

	/**
	 * Creates an attempt.
	 * @param waits whether the attempt waits while another call with the key runs
	 * @param attempts counts the attempts that ended with a deadlock
	 */
	JoinedCall(ReactiveCall<T> caller, boolean waits, ReactiveTransactionStarter transactions, AtomicInteger attempts) {
		this.caller = caller;
		this.transactions = transactions;
		this.joining = caller.store.joining()
			.orElseThrow(
					() -> new IllegalStateException(caller.store.getClass().getName() + " cannot join a transaction"));
		this.attempts = attempts;
		this.waits = waits;
		this.key = caller.parts.waiter().hold(caller.call, waits);
		this.origin = caller.parts.origin();
	}

	/** Begins the transaction, waits for another call, or replays. */
	void begin() {
		// A completed duplicate then costs one round trip.
		this.caller.lookOr(() -> {
			if (this.caller.isGone()) {
				this.caller.leaveNothing();
			}
			else if (!this.key.take()) {
				this.caller.go(this.key.conflict(this.caller.admission()));
			}
			else {
				this.caller.leaveTheRow(NextStep.GO_ON);
				limit(Phase.BEGINNING, () -> ended(notAnswered("begin")));
				new DedicatedSubscription<Void>(this.caller.context(), (nothing, failure) -> {
					Phase last = this.phase.get();
					if (last != Phase.LATE && this.phase.compareAndSet(last, Phase.OVER)) {
						ended(failure);
					}
				}).begin(() -> this.transactions.transactional(Mono.deferContextual((inside) ->
				// A transaction that begins after the timeout is rolled back.
				this.phase.compareAndSet(Phase.BEGINNING, Phase.WORKING) ? claim(Context.of(inside))
						: Mono.error(notAnswered("begin"))), (how) -> this.outcome = how));
			}
		}, false);
	}

	private IdempotencyStoreException notAnswered(String step) {
		return new IdempotencyStoreException(
				"The database did not respond to the " + step + " within " + this.transactions.timeout());
	}

	/** Sets a timeout for a step. The timers of the engine may stop before its end. */
	private void limit(Phase step, Runnable late) {
		this.timer = Schedulers.parallel().schedule(() -> {
			if (this.phase.compareAndSet(step, Phase.LATE)) {
				late.run();
			}
		}, this.transactions.timeout().toMillis(), TimeUnit.MILLISECONDS);
	}

	private Mono<Void> claim(Context inside) {
		this.timer.dispose();
		return this.caller.isGone() ? undo(this.caller::leaveNothing)
				: this.joining.claim(this.caller.call.claim(this.origin).withNewTransaction(true))
					.switchIfEmpty(Mono.error(() -> new IdempotencyStoreException("The store gave no result")))
					.flatMap((result) -> {
						this.caller.upkeep.answered();
						return (result instanceof ClaimResult.Acquired acquired) ? own(acquired, inside)
								: duplicate(result);
					});
	}

	/**
	 * Handles a duplicate. After an unsuccessful wait the transaction may be unusable.
	 */
	private Mono<Void> duplicate(ClaimResult result) {
		if (this.waits && result instanceof ClaimResult.InProgress) {
			// The first call committed, and its result is not attached yet.
			return undo(() -> this.caller
				.go(this.caller.admission().answered(result, this.caller.parts.scheduler().nanos())));
		}
		Runnable answer = this.caller.isAnswered() ? () -> this.caller.duplicate(result) : this.caller::leaveNothing;
		return (result instanceof ClaimResult.InProgress) ? undo(answer) : commit(Mono.empty(), answer);
	}

	private Mono<Void> own(ClaimResult.Acquired acquired, Context inside) {
		ReactiveClaim owned = new ReactiveClaim(this.caller.call, acquired.claim(), 0, this.origin, this.caller.upkeep,
				this.caller.store, this.caller.parts, this.caller.observed, this.caller.resumption,
				this.caller.context());
		owned.joined();
		ReactiveGuardedInvocation<T> made = new ReactiveGuardedInvocation<>(this.caller, owned);
		this.run = made;
		this.key.owns();
		Context context = ReactiveIdempotencyContext.with(inside, owned.context());
		return Mono.defer(() -> prepare(made, acquired.before(), context))
			.doOnNext((found) -> this.recovered = true)
			.onErrorResume((failure) -> undo(owned, new CallOutcome.NotRun(failure), failure))
			.switchIfEmpty(Mono.defer(() -> work(made, context)))
			.singleOptional()
			.flatMap((value) -> returned(made, value.orElse(null)));
	}

	private Mono<T> prepare(ReactiveGuardedInvocation<T> made, ClaimOrigin before, Context context) {
		if (!this.caller.isAnswered()) {
			return Mono.error(ReactiveCall.cancelled());
		}
		this.caller.cancelsWith(() -> this.cancelled.tryEmitError(ReactiveCall.cancelled()));
		if (made.claim.isAbandoned()) {
			this.caller.parts.events().takenOver(this.caller.call, before, this.origin);
		}
		this.caller.action.acquired(made.claim);
		// A lookup may wait for a second connection while the transaction holds one.
		return made.claim.isAbandoned()
				? Mono.create((sink) -> made.lookUp(context, (found, failure) -> end(sink, found, failure)))
				: Mono.empty();
	}

	private static <T> void end(MonoSink<T> sink, @Nullable T value, @Nullable Throwable failure) {
		if (failure != null) {
			sink.error(failure);
		}
		else {
			sink.success(value);
		}
	}

	/** Runs the work. Its cancellation counts as a failure of the transaction. */
	private Mono<T> work(ReactiveGuardedInvocation<T> made, Context context) {
		Mono<T> work = Mono.create((sink) -> {
			DedicatedSubscription<T> running = new DedicatedSubscription<>(context,
					(value, failure) -> end(sink, value, failure));
			sink.onCancel(running);
			running.begin(made.entered(() -> {
				Mono<T> ready = isCancelled() ? this.cancelled.asMono() : this.caller.action.run();
				return isCancelled() ? this.cancelled.asMono() : ready;
			}));
		});
		return Mono.firstWithSignal(work, this.cancelled.asMono()).onErrorResume((failure) -> {
			if (isCancelled()) {
				return undo(made.claim, new CallOutcome.NotRun(failure), failure);
			}
			this.caller.failsUnseen(failure);
			Throwable cause = AsyncResults.cause(Exceptions.unwrap(failure));
			if (isDuplicate(failure)) {
				this.later = true;
				return undo(() -> made.recover(failure));
			}
			return undo(made.claim, visible(made.threw(cause)), failure);
		});
	}

	private boolean isCancelled() {
		return Boolean.TRUE.equals(this.cancelled.scan(Attr.TERMINATED));
	}

	private Mono<Void> returned(ReactiveGuardedInvocation<T> made, @Nullable T value) {
		if (this.recovered && value != null) {
			this.caller.observed.seenAs(IdempotencyOutcome.RECOVERED);
		}
		ReactiveClaim owned = made.claim;
		CallOutcome ending = visible(made.succeeded(value, this.recovered));
		Runnable answer = () -> this.caller.succeed(value);
		if (!(ending instanceof CallOutcome.Successful || ending instanceof CallOutcome.Deferred)) {
			owned.end(ending);
			return undo(answer);
		}
		this.later = ending instanceof CallOutcome.Deferred;
		if (!this.later) {
			owned.end(ending);
		}
		return commit(owned.writeBeforeCommit(this.joining).doOnError((failure) -> this.writeFailure = failure),
				answer);
	}

	/** Returns the outcome after a rollback: rolled back work cannot continue unseen. */
	private static CallOutcome visible(CallOutcome ending) {
		return (ending instanceof CallOutcome.Indeterminate) ? new CallOutcome.Failed(null, null) : ending;
	}

	private boolean isDuplicate(Throwable failure) {
		return this.outcome != TransactionOutcome.COMMITTED
				&& AsyncResults.isDuplicate(this.caller.action::isDuplicate, failure);
	}

	/** Ends the call with its failure after the rollback. */
	private <V> Mono<V> undo(ReactiveClaim owned, CallOutcome ending, Throwable failure) {
		this.later = ending instanceof CallOutcome.Deferred;
		if (!this.later) {
			owned.end(ending);
		}
		return undo(isCancelled() ? () -> {
		} : () -> this.caller.fail(failure));
	}

	private <V> Mono<V> undo(Runnable answer) {
		this.then = answer;
		this.undone = true;
		ending("rollback");
		return Mono.error(ReactiveCall.cancelled());
	}

	private Mono<Void> commit(Mono<Void> write, Runnable answer) {
		return write.doOnSuccess((written) -> {
			this.then = answer;
			ending("commit");
		});
	}

	private void ending(String step) {
		if (this.phase.compareAndSet(Phase.WORKING, Phase.ENDING)) {
			limit(Phase.ENDING, () -> ended(notAnswered(step)));
		}
	}

	/** Handles the end of the transaction, or the end of the wait for it. */
	private void ended(@Nullable Throwable failure) {
		this.timer.dispose();
		ReactiveGuardedInvocation<T> made = this.run;
		ReactiveClaim owned = (made != null) ? made.claim : null;
		Runnable answer = this.then;
		if (answer != null && (failure == null || this.undone)) {
			Mono<Void> written = (owned != null) ? owned.transactionEnded(this.outcome, this.undone) : Mono.empty();
			carryOut(this.later ? Mono.empty() : written, answer);
		}
		else if (made == null || owned == null) {
			carryOut(Mono.empty(), () -> notClaimed(Objects.requireNonNull(failure)));
		}
		else if (answer == null) {
			notWritten(owned, Objects.requireNonNull(failure));
		}
		else {
			notCommitted(made, Objects.requireNonNull(failure), answer);
		}
	}

	private void notClaimed(Throwable failure) {
		if (failure instanceof TransactionLostException lost
				&& this.attempts.incrementAndGet() < EngineRuntime.TRANSACTION_ATTEMPTS) {
			// A deadlock of claims ended the transaction before the work ran.
			this.caller.parts.events().transactionRepeated(this.caller.call.operation(), lost);
			this.caller.go(NextStep.SEND);
			return;
		}
		this.caller.isAnswered();
		Throwable cause = Exceptions.unwrap(failure);
		this.caller.fail((cause instanceof IdempotencyStoreException ex)
				? this.caller.parts.notJoined(this.caller.call, ex) : cause);
	}

	/** Handles a failure of application code, or of the store before the commit. */
	private void notWritten(ReactiveClaim owned, Throwable failure) {
		Throwable write = this.writeFailure;
		if (write == null) {
			owned.withdraw();
			owned.end(new CallOutcome.Failed(failure, null));
		}
		owned.transactionEnded(this.outcome, write == null);
		Throwable cause = Exceptions.unwrap((write != null) ? write : failure);
		carryOut(Mono.empty(), () -> {
			if (cause instanceof TransactionLostException && cause.getCause() != null) {
				// The transaction of the work failed, not the store.
				this.caller.fail(cause.getCause());
			}
			else if (write != null && cause instanceof IdempotencyStoreException ex) {
				this.caller.observed.seenAs(IdempotencyOutcome.STORE_UNAVAILABLE);
				this.caller.fail(this.caller.parts.notJoined(this.caller.call, ex));
			}
			else {
				this.caller.fail(cause);
			}
		});
	}

	private void notCommitted(ReactiveGuardedInvocation<T> made, Throwable failure, Runnable answer) {
		ReactiveClaim owned = made.claim;
		if (this.phase.get() == Phase.LATE && failure instanceof IdempotencyStoreException late) {
			owned.transactionEnded(this.outcome, false);
			carryOut(Mono.empty(), () -> {
				this.caller.observed.seenAs(IdempotencyOutcome.STORE_UNAVAILABLE);
				this.caller.fail(this.caller.parts.notAnswered(this.caller.call, late));
			});
			return;
		}
		boolean duplicate = isDuplicate(failure);
		boolean rolledBack = this.outcome == TransactionOutcome.ROLLED_BACK;
		if (duplicate || rolledBack) {
			// The result of the work is obsolete.
			owned.withdraw();
		}
		owned.transactionEnded(this.outcome, duplicate || rolledBack);
		if (duplicate) {
			carryOut(Mono.empty(), () -> made.recover(failure));
		}
		else if (this.later && this.outcome == TransactionOutcome.COMMITTED && failure instanceof Exception) {
			carryOut(Mono.empty(), () -> {
				logger.warn(
						"[IDEM-301] A guarded call of '{}' committed and its result is stored, but an action after the "
								+ "commit failed. Check the exception below and repeat that action by hand if needed.",
						this.caller.call.operation(), failure);
				answer.run();
			});
		}
		else {
			// A remembered failure is stored before the key is released.
			boolean kept = rolledBack && !this.later && !this.recovered;
			carryOut(kept ? owned.end(visible(made.threw(AsyncResults.cause(Exceptions.unwrap(failure)))))
					: Mono.empty(), () -> this.caller.fail(failure));
		}
	}

	/**
	 * Ends the call on a thread that does not belong to a database driver. The key is
	 * already released, so the call or its caller may begin again at once.
	 */
	private void carryOut(Mono<Void> step, Runnable last) {
		new DedicatedSubscription<Void>(this.caller.context(), (nothing, failure) -> {
			this.key.free();
			this.caller.resumption.execute(() -> {
				try {
					last.run();
				}
				catch (Throwable ex) {
					this.caller.fail(ex);
				}
			});
		}).begin(() -> step);
	}

	/** The progress of the transaction. */
	private enum Phase {

		BEGINNING, WORKING, ENDING,

		/** A step timed out, and the call ends without it. */
		LATE,

		OVER

	}

}
