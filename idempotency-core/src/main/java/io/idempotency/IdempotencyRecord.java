package io.idempotency;

import java.time.Duration;
import java.time.Instant;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * The record of one key as an operator sees it: what is known of the call, but never the
 * key, the caller's name or a result.
 *
 * @param operation the name of the operation; {@code token} for issued tokens
 * @param id the identity of the record: 64 hexadecimal digits, the first 24 of which are
 * the id of the caller
 * @param state the state of the record
 * @param claimedAt when the last claim of the key was acquired, by the store's clock;
 * {@code null} for a token that was issued and not used
 * @param leaseRest how long the lease lives from now unless renewed, or how long the
 * result may still be attached; zero if no call holds the key
 * @param retentionRest how long the record is kept from now
 * @param attempts how many calls came with the key, which only
 * {@link IdempotencyMode#REJECT} counts; zero in other modes
 * @param node the node that made the last claim of the key, {@code null} if it is not
 * known
 * @param traceId the id of the trace in which the last claim of the key was made,
 * {@code null} if that call was not traced
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
	 * Returns the id of the caller, which all records of the caller have in common.
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

		/** A call holds the key, and its lease lives. */
		RUNNING,

		/**
		 * The lease of the call that held the key is over: its owner most likely died,
		 * and the outcome of the call is not known.
		 */
		ABANDONED,

		/** The effect is committed, and the result is about to be attached. */
		COMMITTED,

		/** The call is done, and its result is replayed. */
		DONE,

		/** The call is done, and its result is not kept. */
		RESULT_NOT_STORED,

		/**
		 * A call came in mode {@link IdempotencyMode#REJECT}, which does not tell whether
		 * the call still runs.
		 */
		ONCE

	}

}
