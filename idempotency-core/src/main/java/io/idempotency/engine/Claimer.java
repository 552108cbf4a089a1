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
 * Sends the store requests of a {@link ClaimStateMachine}. A claim on which no call runs
 * is released, so that its key does not stay claimed.
 * <p>
 * For callers that block, {@link #send} and {@link #renew} call the store. Any other
 * engine calls the store itself and passes the result to this class. Thread-safe.
 *
 * @hidden
 */
@Internal
public record Claimer(EngineRuntime runtime) {

	/** A claim that fails within this time did not delay its caller. */
	public static final Duration AT_ONCE = Duration.ofMillis(50);

	/**
	 * Sends the claim. While the store is unavailable, the claim is not sent, unless the
	 * circuit breaker admits this call.
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
			// The store may have applied the claim, and no call will run on it. The
			// failure may be one of the log.
			giveBack(admission, store);
			throw ex;
		}
	}

	/**
	 * Returns the next step in place of a claim that is not sent, because the store is
	 * unavailable or a lookup of this call timed out. A lookup does not replace a claim
	 * whose call would then run unguarded, because its result is known to exist.
	 * @param unwanted whether the call is no longer wanted
	 * @return the step, {@code null} if the claim is to be sent
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

	/** Handles the result of the claim. */
	public NextStep answered(ClaimResult result, ClaimStateMachine admission, StoreRuntime store) {
		store.breaker().answered();
		return admission.answered(result, this.runtime.scheduler().nanos());
	}

	/**
	 * Handles a failure of the claim.
	 * @param unwanted whether the call is no longer wanted, which may be the reason of
	 * the failure
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
		// Writing the log may have taken a while.
		return admission.failed(cause, before || unwanted.getAsBoolean(), now);
	}

	/** Renews the claim before its call runs. */
	public NextStep renew(ClaimStateMachine admission, StoreRuntime store) {
		ClaimRequest request = admission.request();
		return ask(() -> store.store().renew(request.key(), request.claimId(), request.lease()),
				(renewed) -> renewed(renewed, admission, store), (failure) -> renewalFailed(failure, admission, store),
				admission, store);
	}

	/**
	 * Handles the result of the renewal. Nothing ran on a claim whose renewal is
	 * rejected.
	 */
	public NextStep renewed(boolean accepted, ClaimStateMachine admission, StoreRuntime store) {
		store.breaker().answered();
		return admission.renewed(accepted, this.runtime.scheduler().nanos());
	}

	/** Handles a failure of the renewal. */
	public NextStep renewalFailed(RuntimeException cause, ClaimStateMachine admission, StoreRuntime store) {
		store.breaker().failed("renew", admission.call().operation(), cause);
		return admission.failed(cause, false, this.runtime.scheduler().nanos());
	}

	/** Reports that the call runs on a claim whose previous owner crashed. */
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

	/** Releases the claim, on which no call runs, and repeats the release if it fails. */
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
