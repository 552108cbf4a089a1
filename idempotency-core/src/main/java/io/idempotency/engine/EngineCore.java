package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.protocol.ResultSealer;
import io.idempotency.protocol.GuardedCall;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.upkeep.Claimer;
import io.idempotency.upkeep.EventLog;
import io.idempotency.upkeep.Upkeep;
import org.jspecify.annotations.Nullable;

/**
 * What the drivers of one application share: one for callers that block, and one for each
 * other style of calling.
 *
 * @param upkeep what goes on beside the calls
 * @param claimer knows what the answers to claims mean
 * @param replays gives duplicates their results
 * @param results encrypts results
 * @param events reports what happens
 * @param observer sees the calls
 * @hidden
 */
@Internal
public record EngineCore(Upkeep upkeep, Claimer claimer, Replayer replays, ResultSealer results, EventLog events,
		EngineObserver observer) {

	/** Returns where a claim comes from; no failure of a tracer leaves this method. */
	public ClaimOrigin origin() {
		try {
			return this.observer.origin();
		}
		catch (Throwable ex) {
			// Errors too: a tracer may be broken in any way, and the call still goes on.
			this.events.notObserved(ex);
			return ClaimOrigin.UNKNOWN;
		}
	}

	/** Begins the observation of a call, if anybody wants to see it. */
	ObservedCall observe(GuardedCall call) {
		return observe(call, null);
	}

	/**
	 * Begins the observation of a call, if anybody wants to see it.
	 * @param parent what it is below, {@code null} for what the thread knows
	 */
	public ObservedCall observe(GuardedCall call, @Nullable Object parent) {
		return ObservedCall.start(this.observer, call, parent, this.events);
	}

}
