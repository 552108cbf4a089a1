package io.idempotency.reactor;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.engine.AsyncResults;
import io.idempotency.engine.EngineRuntime;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.engine.Ending;
import io.idempotency.engine.GuardedCall;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStoreException;
import io.idempotency.store.TransactionLostException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * The run of the call that owns its key in the database transaction of its work, from the
 * claim to the response. For one call.
 * <p>
 * The end of the transaction cannot be cancelled half way. Work whose caller takes it
 * along is cancelled and rolled back, and its key is free. Whatever is thrown on the way,
 * the transaction ends, and the caller gets a response.
 *
 * @param <T> the result of the guarded work
 */
final class JoinedRun<T> {

	private static final Logger logger = LoggerFactory.getLogger(JoinedRun.class);

	private final ReactiveCall<T> caller;

	private final GuardedCall call;

	private final ReactiveAction<T> action;

	private final ReactiveClaim claim;

	private final JoinedTransaction transaction;

	private final ReactiveIdempotencyStore joining;

	private final EngineRuntime parts;

	private final ObservedCall observed;

	private final Context context;

	private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.PREPARING);

	private volatile @Nullable OwnSubscription<T> work;

	/**
	 * Whether the record could not be written, or the commit was not answered, which is
	 * no failure of the work, and says nothing of a duplicate.
	 */
	private volatile boolean storeFailed;

	JoinedRun(ReactiveCall<T> caller, GuardedCall call, ReactiveAction<T> action, ReactiveClaim claim,
			JoinedTransaction transaction, ReactiveIdempotencyStore joining, EngineRuntime parts, ObservedCall observed,
			Context context) {
		this.caller = caller;
		this.call = call;
		this.action = action;
		this.claim = claim;
		this.transaction = transaction;
		this.joining = joining;
		this.parts = parts;
		this.observed = observed;
		this.context = context;
		claim.joined();
	}

	/**
	 * Runs the action, and ends the transaction and the claim.
	 * @param before where the claim that was taken over came from
	 */
	void run(ClaimOrigin before, ClaimOrigin origin) {
		guarded(() -> prepare(before, origin));
	}

	/**
	 * Takes a step. If code that is not this library's throws in it, neither the
	 * transaction stays open nor the key taken.
	 */
	private void guarded(Runnable step) {
		try {
			step.run();
		}
		catch (Throwable ex) {
			this.stage.set(Stage.ENDING);
			undo(new Ending.Failed(ex, null), ex, () -> this.caller.fail(ex));
		}
	}

	private void prepare(ClaimOrigin before, ClaimOrigin origin) {
		if (!this.caller.isAnswered()) {
			cancel();
			return;
		}
		this.caller.cancelsWith(this::cancel);
		try {
			if (this.claim.isAbandoned()) {
				this.parts.events().takenOver(this.call, before, origin);
			}
			this.action.acquired(this.claim);
		}
		catch (Throwable failure) {
			prepared(Context.empty(), null, failure);
			return;
		}
		Context way = ReactiveIdempotencyContext.with(inside(), this.claim.context());
		if (this.claim.isAbandoned()) {
			// A second connection would be waited for while the transaction has one.
			this.caller.lookUp(ReactiveIdempotencyContext.with(inside(), this.claim.context()),
					entered(this.action::recover), (found, failure) -> guarded(() -> prepared(way, found, failure)));
		}
		else {
			prepared(way, null, null);
		}
	}

	private Callable<Mono<T>> entered(Callable<Mono<T>> source) {
		return () -> {
			try (IdempotencyContextHolder.Binding binding = this.claim.enter()) {
				return ReactiveIdempotencyContext.bound(source.call());
			}
		};
	}

	private void prepared(Context way, @Nullable T recovered, @Nullable Throwable failure) {
		if (recovered == null && failure == null) {
			work(way);
		}
		else if (!this.stage.compareAndSet(Stage.PREPARING, Stage.ENDING)) {
			// The call was cancelled meanwhile, and has its end.
			return;
		}
		else if (failure != null) {
			undo(new Ending.NotRun(failure), failure, () -> this.caller.fail(failure));
		}
		else {
			returned(recovered, true, true);
		}
	}

	private void work(Context way) {
		OwnSubscription<T> running = new OwnSubscription<>(way,
				(value, failure) -> guarded(() -> worked(value, failure)));
		this.work = running;
		if (!this.stage.compareAndSet(Stage.PREPARING, Stage.STARTING)) {
			return;
		}
		running.begin(entered(() -> running.isDisposed() ? Mono.empty() : this.action.run()));
		if (!this.stage.compareAndSet(Stage.STARTING, Stage.WORKING)
				&& this.stage.compareAndSet(Stage.CANCELLED, Stage.ENDING)) {
			cancelled();
		}
	}

	private void worked(@Nullable T value, @Nullable Throwable failure) {
		if (!isEnding()) {
			return;
		}
		if (failure == null) {
			returned(value, false, true);
		}
		else {
			failed(failure);
		}
	}

	/** Begins the end of the work. Returns whether nobody has before. */
	private boolean isEnding() {
		return this.stage.compareAndSet(Stage.STARTING, Stage.ENDING)
				|| this.stage.compareAndSet(Stage.WORKING, Stage.ENDING);
	}

	/** The way to the response has ended well, whatever became of the work. */
	private void returned(@Nullable T value, boolean recovered, boolean open) {
		if (recovered && value != null) {
			this.observed.seenAs(IdempotencyOutcome.RECOVERED);
		}
		Ending ending = decided(() -> this.action.returned(value, recovered));
		Runnable answer = () -> this.caller.succeed(value);
		if (!open) {
			carryOut(this.claim.end(ending), answer, (never) -> answer.run());
		}
		else if (ending instanceof Ending.Done || ending instanceof Ending.DoneUnkept
				|| ending instanceof Ending.Later) {
			Mono<Void> committed = (ending instanceof Ending.Later)
					? commit(null).onErrorResume(this::isBehindCommit, this::logged) : commit(ending);
			carryOut(recovered ? committed : committed.onErrorResume(this::kept), answer, this::commitFailed);
		}
		else {
			undo(ending, null, answer);
		}
	}

	/** Where the transaction is rolled back, nothing of it can go on out of sight. */
	private Ending decided(Supplier<Ending> door) {
		try (IdempotencyContextHolder.Binding binding = this.claim.enter()) {
			Ending ending = Ending.ofSuccess(door);
			return (ending instanceof Ending.OutOfSight) ? new Ending.Failed(null, null) : ending;
		}
	}

	private Ending ofFailure(Throwable failure) {
		this.claim.failedWith(failure);
		return decided(() -> Ending.ofFailure(failure, this.action::threw));
	}

	private void failed(Throwable failure) {
		this.caller.failsUnseen(failure);
		Throwable cause = AsyncResults.cause(Exceptions.unwrap(failure));
		if (isDuplicate(failure)) {
			Runnable recovery = () -> recover(failure);
			carryOut(rolledBack(failure), recovery, (never) -> recovery.run());
			return;
		}
		Ending ending = ofFailure(cause);
		Runnable answer = () -> this.caller.fail(failure);
		undo(ending, failure, answer);
	}

	/**
	 * Keeps the failure of a commit as one of the work, if that is wanted, before the key
	 * is free.
	 */
	private Mono<Void> kept(Throwable failure) {
		boolean ofWork = !this.storeFailed && has(TransactionOutcome.ROLLED_BACK) && !isDuplicate(failure);
		Throwable cause = AsyncResults.cause(Exceptions.unwrap(failure));
		Mono<Void> written = ofWork ? this.claim.end(ofFailure(cause)) : Mono.empty();
		return written.then(Mono.error(failure));
	}

	private boolean isBehindCommit(Throwable failure) {
		return !this.storeFailed && has(TransactionOutcome.COMMITTED) && failure instanceof Exception;
	}

	/** The response of a request stands: its work is done. */
	private Mono<Void> logged(Throwable failure) {
		logger.warn(
				"[IDEM-301] A guarded call of '{}' committed and its result is stored, but an action after the "
						+ "commit failed. Check the exception below and repeat that action by hand if needed.",
				this.call.operation(), failure);
		return Mono.empty();
	}

	private boolean has(TransactionOutcome how) {
		return this.transaction.outcome() == how;
	}

	private void commitFailed(Throwable failure) {
		if (isDuplicate(failure)) {
			recover(failure);
		}
		else {
			this.caller.fail(failure);
		}
	}

	/** A unique index may also report a duplicate at the commit. */
	private boolean isDuplicate(Throwable failure) {
		return !this.storeFailed && !has(TransactionOutcome.COMMITTED)
				&& AsyncResults.isDuplicate(this.action::isDuplicate, failure);
	}

	/**
	 * Looks the result up, outside of the transaction, which is gone. Without a lookup,
	 * or if it fails, the work must not run again.
	 */
	private void recover(Throwable duplicate) {
		Context way = ReactiveIdempotencyContext.with(this.context, this.claim.context());
		this.caller.lookUp(way, entered(this.action::recover),
				(found, failure) -> guarded(() -> recovered(duplicate, found, failure)));
	}

	private void recovered(Throwable duplicate, @Nullable T found, @Nullable Throwable failure) {
		if (found != null) {
			returned(found, true, false);
			return;
		}
		Throwable cause = AsyncResults.cause(Exceptions.unwrap(duplicate));
		boolean failed = this.parts.events().isNoDuplicate(this.call.options(), cause, failure);
		if (!failed) {
			this.observed.seenAs(IdempotencyOutcome.RESULT_UNAVAILABLE);
		}
		Runnable answer = () -> this.caller
			.fail(failed ? duplicate : this.parts.events().resultNotFound(this.call.operation(), cause, failure));
		carryOut(this.claim.end(failed ? ofFailure(cause) : Ending.DONE_UNKEPT), answer, (never) -> answer.run());
	}

	/** Rolls back, and ends the claim after that. */
	private void undo(Ending ending, @Nullable Throwable failure, Runnable answer) {
		if (ending instanceof Ending.Later) {
			// The response tells the end.
			carryOut(rolledBack(failure), answer, (never) -> answer.run());
			return;
		}
		this.claim.end(ending);
		carryOut(this.transaction.rollback(failure).then(Mono.defer(() -> ended(true))), answer,
				(never) -> answer.run());
	}

	private Mono<Void> ended(boolean failed) {
		return this.claim.transactionEnded(this.transaction.outcome(), failed);
	}

	/**
	 * Writes the record, and commits.
	 * @param ending how the call has ended, {@code null} if that is told later
	 */
	private Mono<Void> commit(@Nullable Ending ending) {
		return Mono.defer(() -> {
			if (ending != null) {
				this.claim.end(ending);
			}
			return this.claim.writeBeforeCommit(this.joining);
		}).onErrorResume((failure) -> {
			this.storeFailed = true;
			return this.transaction.rollback(failure).then(Mono.defer(() -> {
				ended(false);
				return Mono.error(notWritten(failure));
			}));
		}).then(Mono.defer(() -> this.transaction.commit().onErrorResume(this::notCommitted))).then(Mono.defer(() -> {
			Mono<Void> recorded = ended(false);
			return (ending != null) ? recorded : Mono.empty();
		}));
	}

	/** Notes what is left of the record when the commit has failed. */
	private Mono<Void> notCommitted(Throwable failure) {
		if (failure instanceof JoinedTransaction.NotAnsweredException late) {
			this.storeFailed = true;
			ended(false);
			this.observed.seenAs(IdempotencyOutcome.STORE_UNAVAILABLE);
			return Mono.error(this.parts.notAnswered(this.call, late));
		}
		boolean undone = has(TransactionOutcome.ROLLED_BACK) || isDuplicate(failure);
		if (undone) {
			// The result of the work is not true any more.
			this.claim.withdraw();
		}
		ended(undone);
		return Mono.error(failure);
	}

	private Throwable notWritten(Throwable failure) {
		Throwable cause = Exceptions.unwrap(failure);
		if (cause instanceof TransactionLostException && cause.getCause() != null) {
			// The transaction of the work has failed, and no store.
			return cause.getCause();
		}
		if (!(cause instanceof IdempotencyStoreException ex)) {
			return cause;
		}
		this.observed.seenAs(IdempotencyOutcome.STORE_UNAVAILABLE);
		return this.parts.notJoined(this.call, ex);
	}

	/**
	 * The caller is gone, and takes the work with it: it is rolled back, whatever was
	 * done. What is being committed is not cancelled any more. Work that is just being
	 * subscribed to is rolled back after that: it might else begin when its transaction
	 * has ended.
	 */
	private void cancel() {
		if (this.stage.compareAndSet(Stage.STARTING, Stage.CANCELLED)) {
			stop();
		}
		else if (this.stage.compareAndSet(Stage.PREPARING, Stage.ENDING)
				|| this.stage.compareAndSet(Stage.WORKING, Stage.ENDING)) {
			cancelled();
		}
	}

	private void stop() {
		OwnSubscription<T> running = this.work;
		if (running != null) {
			running.cancel();
		}
	}

	private void cancelled() {
		guarded(() -> {
			stop();
			undo(new Ending.NotRun(ReactiveCall.cancelled()), null, () -> {
			});
		});
	}

	private void carryOut(Mono<Void> step, Runnable then, Consumer<Throwable> failed) {
		this.transaction.carryOut(step, then, failed, this.caller::fail);
	}

	/** Rolls back, and notes that. */
	private Mono<Void> rolledBack(@Nullable Throwable failure) {
		return this.transaction.rollback(failure).then(Mono.fromRunnable(() -> ended(true)));
	}

	private Context inside() {
		return this.transaction.inside(this.context);
	}

	/** How far a call has come inside its transaction. */
	private enum Stage {

		/** The call owns its key, and its work is about to run. */
		PREPARING,

		/** The work is being put together and subscribed to. */
		STARTING,

		/** It was cancelled meanwhile. */
		CANCELLED,

		/** The work runs in the transaction. */
		WORKING,

		/** The transaction, or the call, is being ended. */
		ENDING

	}

}
