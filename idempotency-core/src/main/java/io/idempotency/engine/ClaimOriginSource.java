package io.idempotency.engine;

import io.idempotency.Internal;
import io.idempotency.store.ClaimOrigin;

/**
 * Tells where a claim comes from. The engine asks it once for each claim, so it must be
 * quick; its failure changes no answer. Thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
@FunctionalInterface
public interface ClaimOriginSource {

	/**
	 * Returns where a claim comes from that this thread makes now.
	 * @return the origin
	 */
	ClaimOrigin current();

}
