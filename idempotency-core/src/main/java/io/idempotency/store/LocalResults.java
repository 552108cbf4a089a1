package io.idempotency.store;

import io.idempotency.key.Fingerprint;
import io.idempotency.key.IdempotencyKey;
import org.jspecify.annotations.Nullable;

/**
 * A store, or a cache in front of one, that has finished results in the memory of this
 * JVM, where a look costs no round trip.
 * <p>
 * Thread-safe. A look changes nothing. Where it finds nothing, the store has to be asked
 * by a claim.
 *
 * @since 0.1.0
 */
public interface LocalResults {

	/**
	 * Looks for the result of a key.
	 * @param key the key
	 * @return what a claim with the same fingerprint would be given at this moment;
	 * {@code null} if no such result is here
	 */
	@Nullable LocalResult find(IdempotencyKey key);

	/**
	 * Returns whether there may be a result of the key. The caller does not use the
	 * result, so a cache does not count this look.
	 * @param key the key
	 * @return whether a look may find a result; {@code false} is certain at this moment
	 */
	default boolean mayHave(IdempotencyKey key) {
		return find(key) != null;
	}

	/**
	 * A finished result.
	 *
	 * @param fingerprint of the claim that has it: only the same fingerprint is given the
	 * result
	 * @param result the result
	 * @param origin where the claim of the first call came from
	 */
	record LocalResult(Fingerprint fingerprint, StoredResult result, ClaimOrigin origin) {
	}

}
