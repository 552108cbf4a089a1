package io.idempotency.engine;

import java.util.function.Consumer;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.Internal;
import io.idempotency.codec.UnreadableResultException;
import io.idempotency.engine.EngineObserver.ObservedCall;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Returns the result of the first call to a duplicate, or rejects the duplicate with the
 * reason. Thread-safe.
 *
 * @hidden
 */
@Internal
public record Replayer(EngineRuntime runtime) {

	/**
	 * Handles a call that must not run: returns the result of the first call, or rejects
	 * the call with the reason.
	 */
	<T> @Nullable T settle(GuardedCall call, ClaimResult result, GuardedAction<T> action, ObservedCall observed)
			throws Throwable {
		Replayed<T> replayed = answer(call, result, action::replay, observed::replayed);
		return (replayed != null) ? replayed.value() : recoverOrReject(call, action, observed);
	}

	/**
	 * Handles a call that must not run, as far as its record allows: replays the result
	 * of the first call, or rejects the call with the reason.
	 * @param <T> the type of the replayed result
	 * @param <X> the type of the exception that may be replayed instead
	 * @param result the result of the claim
	 * @param told receives the origin of the claim of the first call
	 * @return the replayed result, {@code null} if the first call is done and its result
	 * is not stored: the business data may contain it
	 * @throws IdempotencyException if the call is rejected
	 * @throws X the exception of {@code replay}
	 */
	public <T, X extends Throwable> @Nullable Replayed<T> answer(GuardedCall call, ClaimResult result,
			Replay<T, X> replay, Consumer<ClaimOrigin> told) throws X {
		if (result instanceof ClaimResult.Completed completed) {
			try {
				return replay(call, completed, replay, told);
			}
			catch (IdempotencyKeyReusedException ex) {
				throw this.runtime.events().rejection(call.operation(), new ClaimResult.KeyReused());
			}
		}
		if (result instanceof ClaimResult.ResultUnavailable) {
			return null;
		}
		throw this.runtime.events().rejection(call.operation(), result);
	}

	/**
	 * Looks up the result if the call completed on this node, and replays it before any
	 * other processing of the call. Does not reject calls: every other call is decided by
	 * its claim.
	 * @param told receives the origin of the claim of the first call
	 * @return the replayed result, {@code null} if no result was found that can be
	 * replayed
	 */
	<T, X extends Throwable> @Nullable Replayed<T> early(GuardedCall call, Replay<T, X> replay,
			Consumer<ClaimOrigin> told) throws X {
		FinishedCallFinder finished = this.runtime.of(call.store()).finished();
		ClaimResult.Completed found = finished.find(call);
		if (found == null) {
			return null;
		}
		Replayed<T> replayed = null;
		try {
			replayed = replay(call, found, replay, told);
		}
		catch (IdempotencyKeyReusedException ex) {
			// The claim, which is sent next, is rejected.
		}
		if (replayed == null) {
			finished.remove(call.key());
		}
		return replayed;
	}

	/**
	 * Replays the result of the first call.
	 * @return the replayed result, {@code null} if the result cannot be read
	 * @throws IdempotencyKeyReusedException if the result does not belong to this call,
	 * which only its adapter can detect
	 */
	private <T, X extends Throwable> @Nullable Replayed<T> replay(GuardedCall call, ClaimResult.Completed completed,
			Replay<T, X> replay, Consumer<ClaimOrigin> told) throws X {
		StoredResult result = this.runtime.sealer().decrypt(call, completed.result());
		if (result == null) {
			return null;
		}
		T value;
		try {
			value = replay.replay(result);
		}
		catch (UnreadableResultException ex) {
			this.runtime.events().resultNotReadable(call.operation(), ex);
			return null;
		}
		catch (IdempotencyKeyReusedException ex) {
			throw ex;
		}
		catch (Throwable replayed) {
			// The exception is a remembered failure, or a signal of the adapter.
			replayed(call, completed, told);
			throw replayed;
		}
		replayed(call, completed, told);
		return new Replayed<>(value);
	}

	private void replayed(GuardedCall call, ClaimResult.Completed completed, Consumer<ClaimOrigin> told) {
		this.runtime.of(call.store()).finished().add(call.key());
		this.runtime.events().publish(IdempotencyEvent.REPLAYED, call.operation());
		told.accept(completed.origin());
	}

	private <T> @Nullable T recoverOrReject(GuardedCall call, GuardedAction<T> action, ObservedCall observed)
			throws Throwable {
		T recovered = recover(call, action);
		if (recovered == null) {
			throw this.runtime.events().rejection(call.operation(), new ClaimResult.ResultUnavailable());
		}
		observed.seenAs(IdempotencyOutcome.RECOVERED);
		return action.replayRecovered(recovered);
	}

	/**
	 * Looks up the result in the business data. Waits for an asynchronous lookup: only
	 * the value inside shows whether a result was found, and the decision to run depends
	 * on that.
	 */
	<T> @Nullable T recover(GuardedCall call, GuardedAction<T> action) throws Throwable {
		T recovered = call.options().recoverable() ? action.recover() : null;
		if (recovered != null && AsyncResults.await(recovered) != null) {
			this.runtime.events().publish(IdempotencyEvent.RECOVERED, call.operation());
			return recovered;
		}
		return null;
	}

	/**
	 * Replays a stored result to the caller.
	 *
	 * @param <T> the type of the replayed result
	 * @param <X> the type of the exception that may be replayed instead
	 * @hidden
	 */
	@FunctionalInterface
	public interface Replay<T, X extends Throwable> {

		/**
		 * Replays the result.
		 * @param result the stored form
		 */
		@Nullable T replay(StoredResult result) throws X;

	}

	/**
	 * The result of the first call.
	 *
	 * @param <T> the type of the replayed result
	 * @param value the replayed result
	 * @hidden
	 */
	public record Replayed<T>(@Nullable T value) {
	}

}
