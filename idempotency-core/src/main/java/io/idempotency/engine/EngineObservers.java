package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.IdempotencyStore;
import io.idempotency.upkeep.Events;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Those who see what an engine does.
 *
 * @param calls sees the calls, {@code null} if nobody does; no object is then made for a
 * call's observation
 * @param stores sees what is asked of the stores
 * @param origins tells where a claim of this thread comes from
 * @hidden
 * @since 0.1.0
 */
@Internal
public record EngineObservers(@Nullable CallObserver calls, StoreObserver stores, ClaimOriginSource origins) {

	/** Observers that see nothing. */
	public static final EngineObservers NONE = new EngineObservers(null, StoreObserver.NONE);

	private static final Logger logger = LoggerFactory.getLogger("io.idempotency.engine.IdempotencyEngine");

	/**
	 * Creates the observers of an engine whose claims do not tell where they come from.
	 * @param calls sees the calls, {@code null} if nobody does
	 * @param stores sees what is asked of the stores
	 */
	public EngineObservers(@Nullable CallObserver calls, StoreObserver stores) {
		this(calls, stores, () -> ClaimOrigin.UNKNOWN);
	}

	/** Returns the source of origins, which no failure of a tracer leaves. */
	ClaimOriginSource steadyOrigins(Events events) {
		return () -> {
			try {
				return this.origins.current();
			}
			catch (Throwable ex) {
				// Errors too: a tracer may be broken in any way, and the call still goes
				// on.
				events.notObserved(ex);
				return ClaimOrigin.UNKNOWN;
			}
		};
	}

	/**
	 * Returns the store that is asked in place of the given one.
	 * @param store the store
	 * @return a store that does the same; the store itself if it cannot be observed
	 */
	public IdempotencyStore observed(IdempotencyStore store) {
		try {
			return this.stores.observed(store);
		}
		catch (Throwable ex) {
			// Errors too: an observer may be broken in any way, and the calls still go
			// on.
			logger.warn("An observer of stores failed; {} is not observed", store.getClass().getSimpleName(), ex);
			return store;
		}
	}

}
