package io.idempotency.store.nearcache;

import java.time.Duration;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimOrigin;
import io.idempotency.store.StoredResult;

/**
 * An answer of the store to a claim, and the time for which it may be repeated.
 *
 * @param origin where the claim of the first call came from
 * @param staleAt when the store must be asked again, by the ticker
 * @param goneAt when the record is gone, by the ticker
 */
record NearResult(Fingerprint fingerprint, StoredResult result, ClaimOrigin origin, long staleAt, long goneAt) {

	/** The approximate size of an entry in bytes, without the bytes of the result. */
	static final int OVERHEAD = 512;

	/**
	 * Returns whether this result is fresh and answers a claim with the given
	 * fingerprint. The fingerprint must be the same one: the record may have none, so
	 * only the store knows whether another fingerprint matches.
	 */
	boolean answers(Fingerprint asked, long now) {
		return this.staleAt - now > 0 && this.fingerprint.equals(asked);
	}

	Duration rest(long now) {
		return Duration.ofNanos(this.goneAt - now);
	}

	int weight() {
		return (int) Math.min(Integer.MAX_VALUE, (long) OVERHEAD + this.result.bytes().length);
	}

}
