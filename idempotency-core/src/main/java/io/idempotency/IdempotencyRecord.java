package io.idempotency;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The record of one key for operators. It contains data about the call, but not the key,
 * the caller's name or a result.
 *
 * @param operation the name of the operation; {@code token} for issued tokens
 * @param id the identity of the record: 64 hexadecimal digits, the first 24 of which are
 * the id of the caller
 * @param state the state of the record
 * @param claimedAt when the last claim of the key was acquired, by the store's clock;
 * {@code null} for an unused token
 * @param leaseRest the remaining time of the lease, or the remaining time to attach the
 * result; zero if no call holds the key
 * @param retentionRest the remaining retention of the record
 * @param attempts the number of calls with the key, counted only by
 * {@link IdempotencyMode#REJECT}; zero in other modes
 * @param node the node that made the last claim of the key, {@code null} if unknown
 * @param traceId the trace id of the last claim of the key, {@code null} if that call was
 * not traced
 * @since 0.1.0
 */
public record IdempotencyRecord(String operation, String id, State state, @Nullable Instant claimedAt,
		Duration leaseRest, Duration retentionRest, long attempts, @Nullable String node, @Nullable String traceId) {

	private static final int CALLER_DIGITS = 24;

	/**
	 * Validates the components.
	 */
	public IdempotencyRecord {
		Objects.requireNonNull(operation, "operation");
		Objects.requireNonNull(state, "state");
		if (!id.matches("[0-9a-f]{64}")) {
			throw new IllegalArgumentException("A record id must be 64 lower-case hexadecimal digits");
		}
	}

	/**
	 * Returns the id of the caller, which is the same in all records of the caller.
	 * @return 24 hexadecimal digits
	 */
	public String callerId() {
		return this.id.substring(0, CALLER_DIGITS);
	}

	/**
	 * Returns this record with another name of the operation.
	 * @param name the name
	 * @return the record
	 */
	public IdempotencyRecord withOperation(String name) {
		return new IdempotencyRecord(name, this.id, this.state, this.claimedAt, this.leaseRest, this.retentionRest,
				this.attempts, this.node, this.traceId);
	}

	/** The states of a record. */
	public enum State {

		/** The key is a token that was issued and not used. */
		ISSUED,

		/** A call holds the key, and its lease is valid. */
		RUNNING,

		/**
		 * The lease of the call that held the key expired. Its process most likely
		 * crashed, and the outcome of the call is unknown.
		 */
		ABANDONED,

		/** The effect is committed, and the result is not attached yet. */
		COMMITTED,

		/** The call completed, and its result is replayed. */
		DONE,

		/** The call completed without a stored result. */
		RESULT_NOT_STORED,

		/**
		 * A call was received in mode {@link IdempotencyMode#REJECT}. The record does not
		 * show whether the call is in progress.
		 */
		ONCE

	}

}
