package io.idempotency.engine;

import java.util.function.Consumer;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.LocalResults;
import io.idempotency.store.StoredResult;
import org.jspecify.annotations.Nullable;

/**
 * Gives a duplicate the result of the first call, or refuses it with the reason.
 */
final class Replays {

	private final EncryptedResults encrypted;

	private final Events events;

	Replays(EncryptedResults encrypted, Events events) {
		this.encrypted = encrypted;
		this.events = events;
	}

	/**
	 * Answers a call that must not run: gives the result of the first call, or refuses
	 * with the reason.
	 */
	<T> @Nullable T settle(GuardedCall call, ClaimResult result, GuardedAction<T> action, ObservedCall observed)
			throws Throwable {
		if (result instanceof ClaimResult.Completed completed) {
			return replay(call, completed, action, observed);
		}
		if (result instanceof ClaimResult.Tombstone) {
			return recoverOrRefuse(call, action, observed);
		}
		throw this.events.refusal(call.operation(), result);
	}

	private <T> @Nullable T replay(GuardedCall call, ClaimResult.Completed completed, GuardedAction<T> action,
			ObservedCall observed) throws Throwable {
		StoredResult result = this.encrypted.decrypt(call, completed.result());
		if (result == null) {
			return recoverOrRefuse(call, action, observed);
		}
		T value;
		try {
			value = action.replay(result);
		}
		catch (UnreadableResultException ex) {
			this.events.resultNotReadable(call.operation(), ex);
			return recoverOrRefuse(call, action, observed);
		}
		catch (Throwable replayed) {
			// The exception is a remembered failure, or a signal of the door.
			replayed(call, completed, observed);
			throw replayed;
		}
		replayed(call, completed, observed);
		return value;
	}

	private void replayed(GuardedCall call, ClaimResult.Completed completed, ObservedCall observed) {
		this.events.publish(IdempotencyEvent.REPLAYED, call.operation());
		observed.replayed(completed.origin());
	}

	/**
	 * Gives a result that is in the memory of this JVM, if the call needs nothing but its
	 * replay.
	 * @return where the claim of the first call came from, {@code null} if nothing was
	 * given
	 */
	@Nullable ClaimOrigin replayLocal(GuardedCall call, Consumer<StoredResult> replay) {
		LocalResults.LocalResult local = (call.store() instanceof LocalResults results) ? results.find(call.key())
				: null;
		if (local == null || !local.fingerprint().equals(call.fingerprint())) {
			return null;
		}
		StoredResult result = this.encrypted.decrypt(call, local.result());
		if (result == null) {
			return null;
		}
		try {
			replay.accept(result);
		}
		catch (UnreadableResultException ex) {
			// The next duplicate asks the store, and meets the result again there.
			this.events.resultNotReadable(call.operation(), ex);
			return null;
		}
		this.events.publish(IdempotencyEvent.REPLAYED, call.operation());
		return local.origin();
	}

	private <T> @Nullable T recoverOrRefuse(GuardedCall call, GuardedAction<T> action, ObservedCall observed)
			throws Throwable {
		T recovered = recover(call, action);
		if (recovered == null) {
			throw this.events.refusal(call.operation(), new ClaimResult.Tombstone());
		}
		observed.seenAs(IdempotencyOutcome.RECOVERED);
		return action.replayRecovered(recovered);
	}

	/**
	 * Looks up the result in the business data. Waits for an asynchronous look-up: only
	 * the value inside shows whether a result was found, and the decision to run depends
	 * on that.
	 */
	<T> @Nullable T recover(GuardedCall call, GuardedAction<T> action) throws Throwable {
		T recovered = call.policy().recoverable() ? action.recover() : null;
		if (recovered != null && AsyncResults.await(recovered) != null) {
			this.events.publish(IdempotencyEvent.RECOVERED, call.operation());
			return recovered;
		}
		return null;
	}

}
