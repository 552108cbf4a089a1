package io.idempotency.engine;

import java.time.Duration;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyStoreUnavailableException;
import io.idempotency.Internal;
import io.idempotency.StoreFailureMode;
import io.idempotency.engine.ClaimStateMachine.NextStep;
import io.idempotency.engine.EngineRuntime.StoreRuntime;
import io.idempotency.engine.WriteRepeater.OutstandingWrite;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.ClaimType;
import io.idempotency.store.IdempotencyStore;
import org.jspecify.annotations.Nullable;

/**
 * Asks the store what an {@link ClaimStateMachine} wants to know. A claim that no call
 * runs on is given back, so that it does not hold its key.
 * <p>
 * A caller that blocks lets {@link #send} and {@link #renew} ask. Any other driver asks
 * the store itself, and hands in what has come of it. Thread-safe.
 *
 * @hidden
 */
@Internal
public record Claimer(EngineRuntime runtime) {

	/** A claim that fails sooner has cost its caller no time. */
	public static final Duration AT_ONCE = Duration.ofMillis(50);

	/**
	 * Sends the claim. While the store is away it is not sent at all, unless it is this
	 * call's turn to ask.
	 */
	public NextStep send(NextStep.Send send, ClaimStateMachine admission, StoreRuntime store) {
		BooleanSupplier interrupted = () -> Thread.currentThread().isInterrupted();
		NextStep instead = instead(send, admission, store, interrupted);
		if (instead != null) {
			return instead;
		}
		return ask(() -> store.store().claim(admission.request()), (result) -> answered(result, admission, store),
				(failure) -> failed(failure, admission, store, interrupted), admission, store);
	}

	private <T> NextStep ask(Supplier<T> question, Function<T, NextStep> answered,
			Function<RuntimeException, NextStep> failed, ClaimStateMachine admission, StoreRuntime store) {
		try {
			T reply;
			try {
				reply = question.get();
			}
			catch (RuntimeException ex) {
				return failed.apply(ex);
			}
			return answered.apply(reply);
		}
		catch (Throwable ex) {
			// The store may have applied the claim, and no call will run on it. It may be
			// the log that has failed.
			giveBack(admission, store);
			throw ex;
		}
	}

	/**
	 * Returns what comes next in place of a claim that is not sent, because the store is
	 * away, or because a look of the call has waited for it in vain. A look stands for no
	 * claim if the call would then run: its result is known to exist.
	 * @param unwanted whether the call is not wanted any more
	 * @return the move, {@code null} if the claim is to be sent
	 */
	public @Nullable NextStep instead(NextStep.Send send, ClaimStateMachine admission, StoreRuntime store,
			BooleanSupplier unwanted) {
		StoreCircuitBreaker breaker = store.breaker();
		if (send.again()) {
			return null;
		}
		Throwable reason = store.finished().takeUnanswered(admission.request().key());
		if (reason != null) {
			breaker.failed("make", admission.call().operation(), reason);
			breaker.noAnswer();
			if (admission.call().options().onStoreFailure() == StoreFailureMode.PROCEED) {
				return null;
			}
		}
		else if (breaker.mayAsk()) {
			return null;
		}
		else {
			reason = breaker.cause();
		}
		return admission.notSent(reason, unwanted.getAsBoolean());
	}

	/** The store has answered the claim. */
	public NextStep answered(ClaimResult result, ClaimStateMachine admission, StoreRuntime store) {
		store.breaker().answered();
		return admission.answered(result, this.runtime.scheduler().nanos());
	}

	/**
	 * The store has failed to answer the claim.
	 * @param unwanted whether the call is not wanted any more, which may be why
	 */
	public NextStep failed(RuntimeException cause, ClaimStateMachine admission, StoreRuntime store,
			BooleanSupplier unwanted) {
		long now = this.runtime.scheduler().nanos();
		boolean before = unwanted.getAsBoolean();
		if (!before) {
			StoreCircuitBreaker breaker = store.breaker();
			breaker.failed("make", admission.call().operation(), cause);
			if (now - admission.sentNanos() >= AT_ONCE.toNanos()) {
				breaker.noAnswer();
			}
		}
		// The log may have taken its time.
		return admission.failed(cause, before || unwanted.getAsBoolean(), now);
	}

	/** Renews the claim before its call runs. */
	public NextStep renew(ClaimStateMachine admission, StoreRuntime store) {
		ClaimRequest request = admission.request();
		return ask(() -> store.store().renew(request.key(), request.claimId(), request.lease()),
				(renewed) -> renewed(renewed, admission, store), (failure) -> renewalFailed(failure, admission, store),
				admission, store);
	}

	/** The store has answered the renewal. Nothing has run on a claim that it rejects. */
	public NextStep renewed(boolean accepted, ClaimStateMachine admission, StoreRuntime store) {
		store.breaker().answered();
		return admission.renewed(accepted, this.runtime.scheduler().nanos());
	}

	/** The store has failed to answer the renewal. */
	public NextStep renewalFailed(RuntimeException cause, ClaimStateMachine admission, StoreRuntime store) {
		store.breaker().failed("renew", admission.call().operation(), cause);
		return admission.failed(cause, false, this.runtime.scheduler().nanos());
	}

	/** Reports that the call runs on a claim whose owner has died. */
	public void takenOver(NextStep.Run run, ClaimStateMachine admission) {
		if (run.granted().claim().abandoned()) {
			this.runtime.events().takenOver(admission.call(), run.granted().before(), admission.request().origin());
		}
	}

	/** Reports that the call runs unguarded. */
	public void letGo(NextStep.Unguarded unguarded, ClaimStateMachine admission, StoreRuntime store) {
		if (unguarded.giveBack()) {
			giveBack(admission, store);
		}
		this.runtime.events().runsUnguarded(admission.call(), admission.request().origin(), store.breaker());
	}

	/** Reports that the call is rejected, and returns the exception for its caller. */
	public IdempotencyStoreUnavailableException rejected(NextStep.Reject reject, ClaimStateMachine admission,
			StoreRuntime store) {
		if (reject.giveBack()) {
			giveBack(admission, store);
		}
		this.runtime.events().publish(IdempotencyEvent.STORE_UNAVAILABLE, admission.call().operation());
		return reject.exception();
	}

	/** Releases the claim, on which no call runs, as often as it takes. */
	public void giveBack(ClaimStateMachine admission, StoreRuntime store) {
		ClaimRequest request = admission.request();
		boolean leaseEndsIt = request.type() == ClaimType.LEASED && request.takeOver();
		store.repeater().giveBack(new OutstandingWrite("release", admission.call().operation()) {

			@Override
			public boolean send() {
				return store.store().release(request.key(), request.claimId());
			}

			@Override
			protected void answered(boolean accepted) {
				Claimer.this.runtime.waiter().wakeUp(request.key());
			}

		}, request.retention(), leaseEndsIt);
	}

}
