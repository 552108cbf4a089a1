package io.idempotency.reactor;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

import io.idempotency.IdempotencyContextHolder;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.engine.AsyncResults;
import io.idempotency.engine.CallOutcome;
import io.idempotency.engine.EventPublisher;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Runs the work of a call that owns its key, from the claim to the {@link CallOutcome}.
 * An object serves one call.
 *
 * @param <T> the result of the guarded work
 */
final class ReactiveGuardedInvocation<T> {

	private final ReactiveCall<T> caller;

	final ReactiveClaim claim;

	private final Context context;

	private final DedicatedSubscription<T> work;

	private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.PREPARING);

	ReactiveGuardedInvocation(ReactiveCall<T> caller, ReactiveClaim claim) {
		this.caller = caller;
		this.claim = claim;
		this.context = claim.inside(caller.context());
		this.work = new DedicatedSubscription<>(this.context, this::worked);
	}

	/** Runs the action and ends the claim. */
	void run() {
		this.claim.leavesTheThread();
		this.caller.cancelsWith(this::cancel);
		try {
			this.caller.action.acquired(this.claim);
		}
		catch (Throwable failure) {
			prepared(null, failure);
			return;
		}
		if (this.claim.isAbandoned()) {
			lookUp(this.context, this::prepared);
		}
		else {
			prepared(null, null);
		}
	}

	/** Looks up the result of work that was already done. */
	void recover(Throwable duplicate) {
		lookUp(this.context, (found, failure) -> afterDuplicate(duplicate, found, failure));
	}

	void lookUp(Context within, BiConsumer<@Nullable T, @Nullable Throwable> told) {
		this.caller.lookUp(within, entered(this.caller.action::recover), told);
	}

	/**
	 * Binds the context while the work is assembled. During the work, Reactor binds it if
	 * the application enabled context propagation.
	 */
	Callable<Mono<T>> entered(Callable<Mono<T>> work) {
		return () -> {
			try (IdempotencyContextHolder.Binding binding = this.claim.enter()) {
				return ReactiveIdempotencyContext.bound(work.call());
			}
		};
	}

	private void prepared(@Nullable T recovered, @Nullable Throwable failure) {
		if (recovered == null && failure == null) {
			if (this.stage.compareAndSet(Stage.PREPARING, Stage.WORKING)) {
				this.work.begin(entered(() -> this.work.isDisposed() ? Mono.empty() : this.caller.action.run()));
			}
		}
		else if (!this.stage.compareAndSet(Stage.PREPARING, Stage.ENDING)) {
			// The call was cancelled meanwhile and has its outcome.
			return;
		}
		else if (failure != null) {
			end(new CallOutcome.NotRun(failure), () -> this.caller.fail(failure));
		}
		else {
			returned(recovered, true);
		}
	}

	private void worked(@Nullable T value, @Nullable Throwable failure) {
		if (!this.stage.compareAndSet(Stage.WORKING, Stage.ENDING)) {
			return;
		}
		if (failure == null) {
			returned(value, false);
			return;
		}
		this.caller.failsUnseen(failure);
		Throwable cause = AsyncResults.cause(Exceptions.unwrap(failure));
		if (AsyncResults.isGivenUp(cause)) {
			end(gaveUp(cause), () -> this.caller.fail(failure));
		}
		else if (AsyncResults.isDuplicate(this.caller.action::isDuplicate, failure)) {
			recover(failure);
		}
		else {
			end(threw(cause), () -> this.caller.fail(failure));
		}
	}

	/**
	 * Ends the call after the lookup. Without a lookup, or if it fails, the work must not
	 * run again.
	 */
	private void afterDuplicate(Throwable duplicate, @Nullable T found, @Nullable Throwable failure) {
		if (found != null) {
			returned(found, true);
			return;
		}
		EventPublisher events = this.caller.parts.events();
		Throwable cause = AsyncResults.cause(Exceptions.unwrap(duplicate));
		if (events.isNoDuplicate(this.claim.options(), cause, failure)) {
			end(threw(cause), () -> this.caller.fail(duplicate));
			return;
		}
		this.caller.observed.seenAs(IdempotencyOutcome.RESULT_UNAVAILABLE);
		end(CallOutcome.DONE_UNKEPT,
				() -> this.caller.fail(events.resultNotFound(this.claim.operation(), cause, failure)));
	}

	private void returned(@Nullable T value, boolean recovered) {
		if (recovered && value != null) {
			this.caller.observed.seenAs(IdempotencyOutcome.RECOVERED);
		}
		end(succeeded(value, recovered), () -> this.caller.succeed(value));
	}

	CallOutcome succeeded(@Nullable T value, boolean recovered) {
		return CallOutcome.ofSuccess(() -> {
			try (IdempotencyContextHolder.Binding binding = this.claim.enter()) {
				return this.caller.action.returned(value, recovered);
			}
		});
	}

	CallOutcome threw(Throwable failure) {
		this.claim.failedWith(failure);
		try (IdempotencyContextHolder.Binding binding = this.claim.enter()) {
			return CallOutcome.ofFailure(failure, this.caller.action::threw);
		}
	}

	private CallOutcome gaveUp(Throwable failure) {
		try (IdempotencyContextHolder.Binding binding = this.claim.enter()) {
			return this.caller.action.gaveUp(failure);
		}
		catch (Throwable ex) {
			failure.addSuppressed(ex);
			return CallOutcome.OUT_OF_SIGHT;
		}
	}

	/** Ends the claim, and then emits the result. */
	private void end(CallOutcome ending, Runnable answer) {
		Mono.defer(() -> this.claim.end(ending)).subscribe(null, (ex) -> {
			Operators.onErrorDropped(ex, this.context);
			answer.run();
		}, answer);
	}

	/** Handles the cancellation by the caller, which may cancel work in progress. */
	private void cancel() {
		if (this.stage.compareAndSet(Stage.PREPARING, Stage.ENDING)) {
			this.claim.end(new CallOutcome.NotRun(ReactiveCall.cancelled()));
		}
		else if (this.stage.compareAndSet(Stage.WORKING, Stage.ENDING)) {
			this.work.cancel();
			this.claim.end(gaveUp(ReactiveCall.cancelled()));
		}
	}

	/** The progress of the invocation. */
	private enum Stage {

		PREPARING, WORKING, ENDING

	}

}
