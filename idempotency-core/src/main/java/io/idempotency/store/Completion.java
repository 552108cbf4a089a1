package io.idempotency.store;

import java.time.Duration;
import java.util.Objects;

import io.idempotency.key.Fingerprint;

import org.jspecify.annotations.Nullable;

/**
 * Ends a claim, or (type {@link Type#EXECUTED}) says that its effect is committed.
 *
 * @param claim the claim
 * @param fingerprint the fingerprint of the claim, written again where the record is gone
 * @param type what is written
 * @param result the result, {@code null} unless the type is {@link Type#RESULT}
 * @param retention how long the record is kept from now; zero: the record is gone at once
 * (the end of a lock)
 * @param attachWithin type {@link Type#EXECUTED}: how long duplicates are told "in
 * progress" while the result is attached, zero otherwise
 * @param kind what the call has come to; {@link ResultKind#SUCCESS} where that is not
 * known yet
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
			throw new IllegalArgumentException("A completion has a result if and only if its type is RESULT");
		}
		if (retention.isNegative()) {
			throw new IllegalArgumentException("retention must not be negative, but is " + retention);
		}
		if ((type == Type.EXECUTED) != (attachWithin.compareTo(Duration.ZERO) > 0)) {
			throw new IllegalArgumentException("attachWithin must be positive if and only if the type is EXECUTED");
		}
		if (type == Type.EXECUTED && kind != ResultKind.SUCCESS) {
			throw new IllegalArgumentException("What was committed is a success, not a " + kind);
		}
	}

	/**
	 * Done, with a result that duplicates get.
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
	 * Done or refused, with a result that duplicates get.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param result the result
	 * @param retention how long it is kept
	 * @param kind what the call has come to
	 * @return the completion
	 */
	public static Completion result(Claim claim, Fingerprint fingerprint, StoredResult result, Duration retention,
			ResultKind kind) {
		return new Completion(claim, fingerprint, Type.RESULT, result, retention, Duration.ZERO, kind);
	}

	/**
	 * Done, result not kept.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param retention how long the tombstone is kept
	 * @return the completion
	 */
	public static Completion tombstone(Claim claim, Fingerprint fingerprint, Duration retention) {
		return tombstone(claim, fingerprint, retention, ResultKind.SUCCESS);
	}

	/**
	 * Done or refused, result not kept.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param retention how long the tombstone is kept
	 * @param kind what the call has come to
	 * @return the completion
	 */
	public static Completion tombstone(Claim claim, Fingerprint fingerprint, Duration retention, ResultKind kind) {
		return new Completion(claim, fingerprint, Type.TOMBSTONE, null, retention, Duration.ZERO, kind);
	}

	/**
	 * Done, and nothing is to be remembered: the record is gone.
	 * @param claim the claim
	 * @return the completion
	 */
	public static Completion forget(Claim claim) {
		return new Completion(claim, Fingerprint.NONE, Type.TOMBSTONE, null, Duration.ZERO, Duration.ZERO,
				ResultKind.SUCCESS);
	}

	/**
	 * The effect is committed, its result is not attached yet.
	 * @param claim the claim
	 * @param fingerprint the fingerprint of the claim
	 * @param attachWithin how long the result may take before the record is a tombstone
	 * @param retention how long the record is kept
	 * @return the completion
	 */
	public static Completion executed(Claim claim, Fingerprint fingerprint, Duration attachWithin, Duration retention) {
		return new Completion(claim, fingerprint, Type.EXECUTED, null, retention, attachWithin, ResultKind.SUCCESS);
	}

	/**
	 * What a completion writes.
	 */
	public enum Type {

		/** Done, with its result. */
		RESULT,

		/** Done, result not kept. */
		TOMBSTONE,

		/** Committed, result not attached yet. */
		EXECUTED

	}

}
