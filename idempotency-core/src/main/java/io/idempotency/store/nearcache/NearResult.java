package io.idempotency.store.nearcache;

import java.time.Duration;

import io.idempotency.key.Fingerprint;
import io.idempotency.store.StoredResult;

/**
 * What the store said to a claim, and for how long it may be said again.
 *
 * @param fingerprint the fingerprint that was asked with
 * @param result the result
 * @param staleAt when the store is to be asked again, by the ticker
 * @param goneAt when the record is gone, by the ticker
 */
record NearResult(Fingerprint fingerprint, StoredResult result, long staleAt, long goneAt) {

	/** About what an entry takes beside the bytes of the result. */
	static final int OVERHEAD = 512;

	/**
	 * Only to the same question: whether another fingerprint matches the record's own,
	 * which may be none, is known to the store alone.
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
