package io.idempotency.engine;

import io.idempotency.store.ClaimOrigin;

/**
 * Tells where the claims of an engine come from. No failure of a tracer leaves this
 * class. Thread-safe.
 */
final class ClaimOrigins {

	private final ClaimOriginSource source;

	private final Events events;

	ClaimOrigins(ClaimOriginSource source, Events events) {
		this.source = source;
		this.events = events;
	}

	/** Returns the origin of a claim that this thread makes now. */
	ClaimOrigin current() {
		try {
			return this.source.current();
		}
		catch (Throwable ex) {
			// Errors too: a tracer may be broken in any way, and the call still goes on.
			this.events.notObserved(ex);
			return ClaimOrigin.UNKNOWN;
		}
	}

}
