package io.idempotency.engine;

import java.time.Duration;
import java.util.function.Consumer;

import io.idempotency.IdempotencyEvent;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.protocol.EncryptedResults;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.protocol.UnreadableResultException;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.LocalResults;
import io.idempotency.store.StoredResult;
import io.idempotency.upkeep.Events;
import io.idempotency.upkeep.StoreUpkeep;
import io.idempotency.upkeep.Upkeep;
import org.jspecify.annotations.Nullable;

/**
 * Gives a duplicate the result of the first call, or refuses it with the reason.
 */
final class Replays {

	private final EncryptedResults encrypted;

	private final Events events;

	private final Upkeep upkeep;

	Replays(EncryptedResults encrypted, Events events, Upkeep upkeep) {
		this.upkeep = upkeep;
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
			Replayed<T> replayed = replay(call, completed, action, observed);
			return (replayed != null) ? replayed.value() : recoverOrRefuse(call, action, observed);
		}
		if (result instanceof ClaimResult.Tombstone) {
			return recoverOrRefuse(call, action, observed);
		}
		throw this.events.refusal(call.operation(), result);
	}

	/**
	 * Gives the result of the first call.
	 * @return what was given, {@code null} if the result cannot be read
	 */
	<T> @Nullable Replayed<T> replay(GuardedCall call, ClaimResult.Completed completed, GuardedAction<T> action,
			ObservedCall observed) throws Throwable {
		StoredResult result = this.encrypted.decrypt(call, completed.result());
		if (result == null) {
			return null;
		}
		T value;
		try {
			value = action.replay(result);
		}
		catch (UnreadableResultException ex) {
			this.events.resultNotReadable(call.operation(), ex);
			return null;
		}
		catch (IdempotencyKeyReusedException ex) {
			// The stored result is no answer to this call, and only the door could tell.
			throw this.events.refusal(call.operation(), new ClaimResult.Mismatch());
		}
		catch (Throwable replayed) {
			// The exception is a remembered failure, or a signal of the door.
			replayed(call, completed, observed);
			throw replayed;
		}
		replayed(call, completed, observed);
		return new Replayed<>(value);
	}

	/**
	 * Looks for the result if this node has seen it before, and gives it. Every other
	 * call is decided by its claim.
	 * @return what was given, {@code null} if nothing was found that can be read
	 */
	<T> @Nullable Replayed<T> replaySeen(GuardedCall call, GuardedAction<T> action, ObservedCall observed)
			throws Throwable {
		StoreUpkeep upkeep = this.upkeep.of(call.store());
		ClaimResult.Completed found = upkeep.findFinished(call);
		if (found == null) {
			return null;
		}
		Replayed<T> replayed = replay(call, found, action, observed);
		if (replayed == null) {
			upkeep.removeFinished(call.key());
		}
		return replayed;
	}

	private void replayed(GuardedCall call, ClaimResult.Completed completed, ObservedCall observed) {
		this.upkeep.of(call.store()).addFinished(call.key());
		this.events.publish(IdempotencyEvent.REPLAYED, call.operation());
		observed.replayed(completed.origin());
	}

	/**
	 * Gives a result that is in the memory of this JVM, or that the store is known to
	 * have, if the call needs nothing but its replay.
	 * @return where the claim of the first call came from, {@code null} if nothing was
	 * given
	 */
	@Nullable ClaimOrigin replayEarly(GuardedCall call, Consumer<StoredResult> replay) {
		ClaimResult.Completed local = findLocal(call);
		ClaimResult.Completed found = (local != null) ? local : this.upkeep.of(call.store()).findFinished(call);
		if (found == null || !isGiven(call, found, replay)) {
			return null;
		}
		this.events.publish(IdempotencyEvent.REPLAYED, call.operation());
		return found.origin();
	}

	private boolean isGiven(GuardedCall call, ClaimResult.Completed found, Consumer<StoredResult> replay) {
		StoredResult result = this.encrypted.decrypt(call, found.result());
		try {
			if (result != null) {
				replay.accept(result);
				return true;
			}
		}
		catch (UnreadableResultException ex) {
			this.events.resultNotReadable(call.operation(), ex);
		}
		// The claim, which is sent next, meets the result again.
		this.upkeep.of(call.store()).removeFinished(call.key());
		return false;
	}

	private static ClaimResult.@Nullable Completed findLocal(GuardedCall call) {
		LocalResults.LocalResult local = (call.store() instanceof LocalResults results) ? results.find(call.key())
				: null;
		return (local != null && local.fingerprint().equals(call.fingerprint()))
				? new ClaimResult.Completed(local.result(), Duration.ZERO, local.origin()) : null;
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

	/**
	 * The result of the first call.
	 *
	 * @param value what the caller is given
	 */
	record Replayed<T>(@Nullable T value) {
	}

}
