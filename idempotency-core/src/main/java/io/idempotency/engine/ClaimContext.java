package io.idempotency.engine;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import io.idempotency.IdempotencyContext;
import io.idempotency.store.Claim;
import org.jspecify.annotations.Nullable;

/**
 * The context of a guarded method: the facts of its call, and the requests of the method
 * for the end of the call. Requests count until the call ends.
 */
final class ClaimContext implements IdempotencyContext {

	private final String operation;

	private final Claim claim;

	private final BooleanSupplier ended;

	private final Duration usual;

	/** The retention that the method requested. */
	private volatile @Nullable Duration wanted;

	private volatile boolean releaseRequested;

	/** The guarded call around this one, {@code null} if no such call is known here. */
	private final @Nullable ClaimContext around;

	/**
	 * Whether the key of a nested call stays claimed until its lease expires, or whether
	 * a commit of this call received no reply.
	 */
	private volatile boolean unknownInside;

	ClaimContext(GuardedCall call, Claim claim, @Nullable IdempotencyContext around, BooleanSupplier ended) {
		this.operation = call.operation();
		this.claim = claim;
		this.around = (around instanceof ClaimContext owner) ? owner : null;
		this.ended = ended;
		this.usual = call.options().retention();
	}

	@Override
	public String key() {
		return this.claim.key().value();
	}

	@Override
	public String operation() {
		return this.operation;
	}

	@Override
	public String recordId() {
		return this.claim.key().hashHex();
	}

	@Override
	public long fencingToken() {
		return this.claim.fencingToken();
	}

	@Override
	public void retention(Duration retention) {
		if (retention.isZero() || retention.isNegative()) {
			throw new IllegalArgumentException("retention must be positive, not " + retention);
		}
		if (!this.ended.getAsBoolean()) {
			this.wanted = retention;
		}
	}

	@Override
	public void releaseKey() {
		if (!this.ended.getAsBoolean()) {
			this.releaseRequested = true;
		}
	}

	Duration retention() {
		return retentionAtMost(null);
	}

	/**
	 * Returns how long the outcome of the call is stored.
	 * @param atMost the longest time for this outcome; a retention that the method
	 * requested overrides it
	 */
	Duration retentionAtMost(@Nullable Duration atMost) {
		Duration asked = this.wanted;
		if (asked != null) {
			return asked;
		}
		return (atMost != null && atMost.compareTo(this.usual) < 0) ? atMost : this.usual;
	}

	/** Notifies the call around this one that the outcome of this call is unknown. */
	void isUnknown() {
		if (this.around != null) {
			this.around.noteUnknownInside();
		}
	}

	void noteUnknownInside() {
		this.unknownInside = true;
	}

	boolean isUnknownInside() {
		return this.unknownInside;
	}

	boolean isReleaseRequested() {
		return this.releaseRequested;
	}

}
