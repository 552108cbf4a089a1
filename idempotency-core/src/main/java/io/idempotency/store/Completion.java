package io.idempotency.store;

import java.time.Duration;
import java.util.Objects;

import io.idempotency.key.Fingerprint;

import org.jspecify.annotations.Nullable;

/**
 * The end of a claim, or (type {@link Type#COMMITTED}) the message that its effect is
 * committed.
 *
 * @param claim the claim
 * @param fingerprint the fingerprint of the claim, which is written again if the record
 * is gone, and must be that of the record if the record is nobody's
 * @param type the state that is written
 * @param result the result, {@code null} unless the type is {@link Type#RESULT}
 * @param retention how long the record is kept from now; with zero, the record is deleted
 * at once (the end of a lock)
 * @param attachWithin how long duplicates get "in progress" while the result is attached
 * (type {@link Type#COMMITTED}); zero for the other types
 * @param kind how the call ended; {@link ResultKind#SUCCESS} if the end is not known yet
 * @since 0.1.0
 */
public record Completion(Claim claim, Fingerprint fingerprint, Type type, @Nullable StoredResult result,
		Duration retention, Duration attachWithin, ResultKind kind) {

	/**
	 * Validates the components.
	 */
	public Completion {
		Objects.requireNonNull(claim, "claim");
		Objects.requireNonNull(fingerprint, "fingerprint");
		Objects.requireNonNull(kind, "kind");
		if ((type == Type.RESULT) != (result != null)) {
			throw new IllegalArgumentException(
					"A completion must have a result if its type is RESULT, and none otherwise");
		}
		if (retention.isNegative()) {
			throw new IllegalArgumentException("retention must not be negative, but is " + retention);
		}
		if ((type == Type.COMMITTED) != (attachWithin.compareTo(Duration.ZERO) > 0)) {
			throw new IllegalArgumentException("attachWithin must be positive for type COMMITTED, and only for it");
		}
		if (type == Type.COMMITTED && kind != ResultKind.SUCCESS) {
			throw new IllegalArgumentException("A completion of type COMMITTED must be a success, not a " + kind);
		}
	}

	/**
	 * Makes the completion of a call that is done, with a result for its duplicates.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param result the result
	 * @param retention how long it is kept
	 * @return the completion
	 */
	public static Completion result(Claim claim, Fingerprint fingerprint, StoredResult result, Duration retention) {
		return result(claim, fingerprint, result, retention, ResultKind.SUCCESS);
	}

	/**
	 * Makes the completion of a call that is done or rejected, with a result for its
	 * duplicates.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param result the result
	 * @param retention how long it is kept
	 * @param kind how the call ended
	 * @return the completion
	 */
	public static Completion result(Claim claim, Fingerprint fingerprint, StoredResult result, Duration retention,
			ResultKind kind) {
		return new Completion(claim, fingerprint, Type.RESULT, result, retention, Duration.ZERO, kind);
	}

	/**
	 * Makes the completion of a call that is done, without its result.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param retention how long the tombstone is kept
	 * @return the completion
	 */
	public static Completion withoutResult(Claim claim, Fingerprint fingerprint, Duration retention) {
		return withoutResult(claim, fingerprint, retention, ResultKind.SUCCESS);
	}

	/**
	 * Makes the completion of a call that is done or rejected, without its result.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param retention how long the tombstone is kept
	 * @param kind how the call ended
	 * @return the completion
	 */
	public static Completion withoutResult(Claim claim, Fingerprint fingerprint, Duration retention, ResultKind kind) {
		return new Completion(claim, fingerprint, Type.WITHOUT_RESULT, null, retention, Duration.ZERO, kind);
	}

	/**
	 * Makes the completion of a call that is done and is not to be remembered: the record
	 * is deleted.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @return the completion
	 */
	public static Completion forget(Claim claim, Fingerprint fingerprint) {
		return withoutResult(claim, fingerprint, Duration.ZERO);
	}

	/**
	 * Makes the message that the effect is committed and the result is not attached yet.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param attachWithin how long the result may take before the record becomes a
	 * tombstone
	 * @param retention how long the record is kept
	 * @return the completion
	 */
	public static Completion executed(Claim claim, Fingerprint fingerprint, Duration attachWithin, Duration retention) {
		return new Completion(claim, fingerprint, Type.COMMITTED, null, retention, attachWithin, ResultKind.SUCCESS);
	}

	/**
	 * The state that a completion writes.
	 */
	public enum Type {

		/** The call is done, and its result is kept. */
		RESULT,

		/** The call is done, and its result is not kept. */
		WITHOUT_RESULT,

		/** The effect is committed, and the result is not attached yet. */
		COMMITTED

	}

}
