package io.idempotency.engine;

import java.time.Duration;
import java.util.function.BooleanSupplier;

import io.idempotency.IdempotencyContext;
import io.idempotency.store.Claim;
import org.jspecify.annotations.Nullable;

/**
 * The context of a guarded method: the facts of its own call, and its wishes for the end
 * of the call, which count until the call has ended.
 */
final class ClaimContext implements IdempotencyContext {

	private final String operation;

	private final Claim claim;

	private final BooleanSupplier ended;

	private final Duration usual;

	/** The retention that the method has asked for. */
	private volatile @Nullable Duration wanted;

	private volatile boolean releaseRequested;

	/** The call around this one, {@code null} if there is none that is known here. */
	private final @Nullable ClaimContext around;

	/**
	 * Whether a call inside of this one was left to its lease, or a commit of this one
	 * was not answered.
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
	 * Returns how long the end of the call is kept.
	 * @param atMost the longest time for this end; a retention that the method has asked
	 * for overrides it
	 */
	Duration retentionAtMost(@Nullable Duration atMost) {
		Duration asked = this.wanted;
		if (asked != null) {
			return asked;
		}
		return (atMost != null && atMost.compareTo(this.usual) < 0) ? atMost : this.usual;
	}

	/** Tells the call around this one that nobody knows the end of this one. */
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
