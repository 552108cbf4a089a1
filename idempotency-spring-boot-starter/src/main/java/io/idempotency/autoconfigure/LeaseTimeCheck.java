package io.idempotency.autoconfigure;

import io.idempotency.Internal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the lease with the store time-out: if calls of the store take long, a claim
 * may not be renewed in time.
 *
 * @hidden
 */
@Internal
public final class LeaseTimeCheck {

	private static final Logger logger = LoggerFactory.getLogger(LeaseTimeCheck.class);

	private LeaseTimeCheck() {
	}

	/** Logs a warning if a renewal may still be under way when the next one is due. */
	public static void compare(IdempotencyProperties properties) {
		if (properties.renewal() && properties.storeTimeout().compareTo(properties.lease().dividedBy(3)) >= 0) {
			logger
				.warn("A call of the store may take 'idempotency.store-timeout' ({}), and a claim is renewed each third"
						+ " of 'idempotency.lease' ({}): a store that is slow may let the claims of running calls end. Make"
						+ " the lease longer than three times the time-out",
						PropertyChecks.text(properties.storeTimeout()), PropertyChecks.text(properties.lease()));
		}
	}

}
