package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.store.IdempotencyStore;

/**
 * Sees what the engine asks of a store, through a store that it puts in front. Is asked
 * once for each store.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
@FunctionalInterface
public interface StoreObserver {

	/** An observer that sees nothing: stores stay as they are. */
	StoreObserver NONE = (store) -> store;

	/**
	 * Returns the store that the engine asks in place of the given one.
	 * @param store the store
	 * @return a store that does the same, or the store itself
	 */
	IdempotencyStore observed(IdempotencyStore store);

}
