package io.idempotency.store;

import org.jspecify.annotations.Nullable;

/**
 * Finds the results of finished calls in a store, without claiming.
 * <p>
 * Thread-safe. A look changes nothing, takes one round trip, and neither holds up nor
 * aborts the caller's transaction, on whose connection it may be sent. It takes no longer
 * than a claim may.
 *
 * @since 0.1.0
 */
@FunctionalInterface
public interface FinishedResults {

	/**
	 * Looks for the result that a claim would be given.
	 * @param request the claim that would be sent
	 * @return what the claim would be given at this moment, {@code null} if it would not
	 * be given a result
	 * @throws IdempotencyStoreException if the store could not be read
	 */
	ClaimResult.@Nullable Completed find(ClaimRequest request);

}
