package io.idempotency.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyContextHolder.Binding;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.engine.GuardedAction.SurroundingTransaction;
import io.idempotency.engine.GuardedAction.ThreadTransactions;
import io.idempotency.engine.WorkTransactions.TransactionOutcome;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import org.jspecify.annotations.Nullable;

/**
 * The invocation of the call that owns its key, from the claim to the
 * {@link CallOutcome}. For one call; the future of an asynchronous call may end it on
 * another thread.
 *
 * @param <T> the result of the guarded method
 */
final class GuardedInvocation<T> {

	private final GuardedCall call;

	private final OwnedClaim claim;

	private final GuardedAction<T> action;

	private final EngineRuntime runtime;

	/** The context for a lookup on a thread of the library. */
	private CallerContext caller = CallerContext.NONE;

	/** The transaction of a caller whose future is not known to be complete. */
	private @Nullable SurroundingTransaction perhaps;

	/** The earliest time at which the work started. */
	private final long startNanos = System.nanoTime();

	GuardedInvocation(GuardedCall call, OwnedClaim claim, GuardedAction<T> action, EngineRuntime runtime) {
		this.call = call;
		this.claim = claim;
		this.action = action;
		this.runtime = runtime;
	}

	/**
	 * Runs the action and ends the claim.
	 * @param transaction the surrounding transaction, whose end ends the claim;
	 * {@code null} without a transaction
	 */
	@Nullable T run(@Nullable SurroundingTransaction transaction) throws Throwable {
		try (IdempotencyContextHolder.Binding binding = this.claim.bind()) {
			T recovered = openAndRecover(transaction);
			if (recovered != null) {
				return returned(recovered, true);
			}
			T value;
			try {
				value = this.action.run();
			}
			catch (Throwable failure) {
				TransactionOutcome committed = committed(failure);
				if (!AsyncResults.isDuplicate(this.action::isDuplicate, failure)) {
					threw(failure, committed);
				}
				else if (!this.claim.isJoined()) {
					endsHere();
					return afterDuplicate(failure, committed);
				}
				throw failure;
			}
			// The result of a method may release the key after a failed commit.
			committed(AsyncResults.failureOf(value));
			return returned(value, false);
		}
	}

	/**
	 * Looks up the result after the work was found to be already done. Runs after the
	 * transaction of the work, because the lookup needs a separate transaction.
	 */
	@Nullable T recoverAfterDuplicate(Throwable duplicate) throws Throwable {
		try (IdempotencyContextHolder.Binding binding = this.claim.bind()) {
			return afterDuplicate(duplicate, TransactionOutcome.ROLLED_BACK);
		}
	}

	private @Nullable T openAndRecover(@Nullable SurroundingTransaction transaction) throws Throwable {
		try {
			if (this.action.isAsync()) {
				this.perhaps = transaction;
			}
			else if (transaction != null) {
				endsWith(transaction);
			}
			this.action.acquired(this.claim);
			if (this.action.isAsync() && this.call.options().recoverable()) {
				this.caller = CallerContext.capture();
			}
			return this.claim.isAbandoned() ? new Replayer(this.runtime).recover(this.call, this.action) : null;
		}
		catch (Throwable failure) {
			end(new CallOutcome.NotRun(failure));
			throw failure;
		}
	}

	/** Returns whether the work committed, as the thread of the work sees it. */
	private TransactionOutcome committed(@Nullable Throwable failure) {
		TransactionOutcome how = this.runtime.transactions().outcomeSince(this.startNanos, failure);
		if (how == TransactionOutcome.UNKNOWN) {
			this.claim.commitNotAnswered();
		}
		return how;
	}

	private void endsWith(SurroundingTransaction transaction) {
		transaction.bind(this.call.key(), this.claim, (outcome) -> this.claim.transactionEnded(outcome, false));
		this.claim.surrounded();
	}

	/**
	 * Notes that the work of a future was done before the method returned, and therefore
	 * in the transaction of its caller.
	 */
	private void endsHere() {
		SurroundingTransaction transaction = this.perhaps;
		this.perhaps = null;
		if (transaction == null) {
			return;
		}
		try {
			endsWith(transaction);
		}
		catch (RuntimeException ex) {
			// The end of the transaction is not reported, and the work must not run
			// again.
			end(new CallOutcome.SuccessWithoutResult(ex));
		}
	}

	/**
	 * Ends the claim after an exception of the method. If the work committed despite the
	 * exception, it is done, unless the failure itself is stored.
	 */
	private void threw(Throwable failure, TransactionOutcome committed) {
		boolean done = committed == TransactionOutcome.COMMITTED && !this.claim.isJoined()
				&& this.call.options().onFailure() != FailureMode.REMEMBER;
		this.claim.failedWith(failure);
		end(CallOutcome.ofFailure(failure, done ? this.action::threwAfterCommit : this.action::threw));
	}

	/**
	 * Looks up the result, because the business data reports "already done". If the
	 * lookup finds nothing, it was not a duplicate, and the call failed. Without a
	 * lookup, or if it fails, the work must not run again.
	 * @param committed whether the work committed, read before the lookup
	 */
	private @Nullable T afterDuplicate(Throwable duplicate, TransactionOutcome committed) throws Throwable {
		T recovered = null;
		Throwable failure = null;
		try (IdempotencyContextHolder.Binding bound = this.caller.bind()) {
			recovered = new Replayer(this.runtime).recover(this.call, this.action);
		}
		catch (Throwable ex) {
			if (ex instanceof InterruptedException) {
				Thread.currentThread().interrupt();
			}
			failure = ex;
		}
		if (recovered != null) {
			return returned(recovered, true);
		}
		if (this.runtime.events().isNoDuplicate(this.call.options(), AsyncResults.cause(duplicate), failure)) {
			threw(AsyncResults.cause(duplicate), committed);
			throw duplicate;
		}
		this.claim.observed().seenAs(IdempotencyOutcome.RESULT_UNAVAILABLE);
		end(CallOutcome.DONE_UNKEPT);
		throw this.runtime.events().resultNotFound(this.call.operation(), AsyncResults.cause(duplicate), failure);
	}

	/**
	 * Ends the claim and returns the value. For a future, returns another one that
	 * completes after the claim has ended.
	 */
	private @Nullable T returned(@Nullable T value, boolean recovered) {
		if (recovered) {
			this.claim.observed().seenAs(IdempotencyOutcome.RECOVERED);
		}
		if (this.action.isAsync() && value instanceof CompletionStage<?> stage) {
			return later(value, stage, recovered);
		}
		endsHere();
		done(value, recovered);
		return value;
	}

	/** Ends the claim after a success. */
	private void done(@Nullable Object value, boolean recovered) {
		end(CallOutcome.ofSuccess(() -> this.action.returned(value, recovered)));
	}

	private T later(T value, CompletionStage<?> stage, boolean recovered) {
		CompletableFuture<@Nullable Object> answer = new CompletableFuture<>();
		Thread caller = Thread.currentThread();
		AtomicBoolean here = new AtomicBoolean(true);
		boolean boundHere;
		try {
			boundHere = !this.action.deferred(answer);
			stage.whenComplete((result, failure) -> {
				// Only the thread of the work can read how its transaction ended.
				TransactionOutcome committed = committed(failure);
				Supplier<Runnable> end = () -> end(result, failure, committed, recovered, answer);
				if (here.get() && Thread.currentThread() == caller) {
					endsHere();
					end.get().run();
				}
				else {
					this.runtime.resultExecutor().run(end, answer);
				}
			});
		}
		catch (Throwable ex) {
			// The future does not report its completion.
			end(new CallOutcome.SuccessWithoutResult(ex));
			return value;
		}
		here.set(false);
		if (!answer.isDone()) {
			this.claim.leavesTheThread();
			if (boundHere) {
				this.claim.boundRenewal();
			}
		}
		return AsyncResults.future(answer);
	}

	/**
	 * Ends the claim before the returned future completes. That future fails with the
	 * unchanged failure of the method.
	 * @return the task that completes the returned future
	 */
	private Runnable end(@Nullable Object value, @Nullable Throwable failure, TransactionOutcome committed,
			boolean recovered, CompletableFuture<@Nullable Object> answer) {
		try (IdempotencyContextHolder.Binding binding = this.claim.enter()) {
			if (failure == null) {
				done(value, recovered);
				return () -> answer.complete(value);
			}
			Throwable cause = AsyncResults.cause(failure);
			if (AsyncResults.isGivenUp(cause)) {
				end(this.action.gaveUp(cause));
			}
			else if (AsyncResults.isDuplicate(this.action::isDuplicate, failure)) {
				Object found = AsyncResults.await(afterDuplicate(failure, committed));
				return () -> answer.complete(found);
			}
			else {
				threw(cause, committed);
			}
			return () -> answer.completeExceptionally(failure);
		}
		catch (Throwable rejection) {
			return () -> answer.completeExceptionally(rejection);
		}
	}

	/** Ends the claim; every path of this class ends here. */
	private void end(CallOutcome ending) {
		this.claim.end(ending);
	}

	/**
	 * The thread-bound context of a caller, for application code that the library runs
	 * later on another thread. It contains the thread-locals that are registered with
	 * Micrometer's context propagation. Empty if that is not on the class path.
	 * Immutable.
	 */
	@FunctionalInterface
	interface CallerContext {

		/** The context of a call whose code stays on the thread of its caller. */
		CallerContext NONE = () -> () -> {
		};

		/** Whether context propagation is on the class path. */
		boolean PRESENT = isPresent();

		/**
		 * Binds the context to the current thread. Registered thread-locals that the
		 * caller did not have are unbound meanwhile.
		 * @return the binding, to be closed by the same thread, which restores the
		 * context of the thread
		 */
		Binding bind();

		/** Returns the context of the current thread. */
		static CallerContext capture() {
			return PRESENT ? Snapshots.capture() : NONE;
		}

		private static boolean isPresent() {
			try {
				Class.forName("io.micrometer.context.ContextSnapshotFactory", false,
						CallerContext.class.getClassLoader());
				return true;
			}
			catch (ClassNotFoundException | LinkageError notThere) {
				return false;
			}
		}

		/** A separate class, because the types that it uses may be missing. */
		final class Snapshots {

			private static final ContextSnapshotFactory FACTORY = ContextSnapshotFactory.builder()
				.clearMissing(true)
				.build();

			private Snapshots() {
			}

			private static CallerContext capture() {
				ContextSnapshot snapshot = FACTORY.captureAll();
				return () -> {
					ContextSnapshot.Scope scope = snapshot.setThreadLocals();
					return scope::close;
				};
			}

		}

	}

}
