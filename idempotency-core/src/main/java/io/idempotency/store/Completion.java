package io.idempotency.store;

import java.time.Duration;
import java.util.Objects;

import io.idempotency.key.Fingerprint;

import org.jspecify.annotations.Nullable;

/**
 * The completion of a claim or, for type {@link Type#COMMITTED}, the information that its
 * effect is committed.
 *
 * @param claim the claim
 * @param fingerprint the fingerprint of the claim, which is written again if the record
 * is absent, and must match the record if the record has no owner
 * @param type the state that is written
 * @param result the result, {@code null} unless the type is {@link Type#RESULT}
 * @param retention the retention of the record from now; with zero, the record is deleted
 * immediately (the end of a lock)
 * @param attachWithin how long duplicates receive "in progress" while the result is
 * attached (type {@link Type#COMMITTED}); zero for the other types
 * @param kind how the call ended; {@link ResultKind#SUCCESS} if not known yet
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
	 * Creates the completion of a successful call with a result for its duplicates.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param result the result
	 * @param retention the retention of the result
	 * @return the completion
	 */
	public static Completion result(Claim claim, Fingerprint fingerprint, StoredResult result, Duration retention) {
		return result(claim, fingerprint, result, retention, ResultKind.SUCCESS);
	}

	/**
	 * Creates the completion of a completed or rejected call with a result for its
	 * duplicates.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param result the result
	 * @param retention the retention of the result
	 * @param kind how the call ended
	 * @return the completion
	 */
	public static Completion result(Claim claim, Fingerprint fingerprint, StoredResult result, Duration retention,
			ResultKind kind) {
		return new Completion(claim, fingerprint, Type.RESULT, result, retention, Duration.ZERO, kind);
	}

	/**
	 * Creates the completion of a successful call without its result.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param retention the retention of the record without a result
	 * @return the completion
	 */
	public static Completion withoutResult(Claim claim, Fingerprint fingerprint, Duration retention) {
		return withoutResult(claim, fingerprint, retention, ResultKind.SUCCESS);
	}

	/**
	 * Creates the completion of a completed or rejected call without its result.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param retention the retention of the record without a result
	 * @param kind how the call ended
	 * @return the completion
	 */
	public static Completion withoutResult(Claim claim, Fingerprint fingerprint, Duration retention, ResultKind kind) {
		return new Completion(claim, fingerprint, Type.WITHOUT_RESULT, null, retention, Duration.ZERO, kind);
	}

	/**
	 * Creates the completion of a call whose record is deleted.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @return the completion
	 */
	public static Completion forget(Claim claim, Fingerprint fingerprint) {
		return withoutResult(claim, fingerprint, Duration.ZERO);
	}

	/**
	 * Creates the information that the effect is committed and the result is not attached
	 * yet.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param attachWithin the time to attach the result; after that, the call counts as
	 * completed without a stored result
	 * @param retention the retention of the record
	 * @return the completion
	 */
	public static Completion executed(Claim claim, Fingerprint fingerprint, Duration attachWithin, Duration retention) {
		return new Completion(claim, fingerprint, Type.COMMITTED, null, retention, attachWithin, ResultKind.SUCCESS);
	}

	/**
	 * The state that a completion writes.
	 */
	public enum Type {

		/** The call completed, and its result is stored. */
		RESULT,

		/** The call completed without a stored result. */
		WITHOUT_RESULT,

		/** The effect is committed, and the result is not attached yet. */
		COMMITTED

	}

}
