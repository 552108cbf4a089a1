package io.idempotency.autoconfigure;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs warnings about a lease or a retention that is probably not intended: if store
 * operations take long, a claim may not be renewed in time.
 */
final class LeaseTimeCheck {

	private static final Logger logger = LoggerFactory.getLogger(LeaseTimeCheck.class);

	private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);

	private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);

	private LeaseTimeCheck() {
	}

	/** Logs a warning if a duration is so short that it is probably not intended. */
	public static void floor(IdempotencyProperties properties) {
		if (properties.lease().compareTo(SHORTEST_LEASE) < 0) {
			logger.warn("[IDEM-509] idempotency.lease is {}: if a JVM pause is longer, a duplicate runs while the "
					+ "first call is in progress. Set at least one second. A number without a unit is in seconds.",
					PropertyChecks.text(properties.lease()));
		}
		if (properties.retention().compareTo(SHORTEST_RETENTION) < 0) {
			logger.warn(
					"[IDEM-510] idempotency.retention is {}: later retries run again. Set at least one minute, and "
							+ "longer than clients retry. A number without a unit is in seconds.",
					PropertyChecks.text(properties.retention()));
		}
	}

	/**
	 * Logs a warning if a renewal may still be in progress when the next one is due.
	 * @param waits how often a call may wait for the timeout: twice if it may wait for
	 * its connection and for its statement
	 */
	public static void compare(IdempotencyProperties properties, int waits) {
		int times = 3 * waits;
		if (properties.renewal() && properties.storeTimeout().multipliedBy(times).compareTo(properties.lease()) >= 0) {
			logger.warn(
					"[IDEM-508] A store operation may take idempotency.store-timeout ({}){}, and claims are "
							+ "renewed every third of idempotency.lease ({}): a slow store can let the leases of "
							+ "running calls expire. Set a lease longer than {} times the timeout.",
					PropertyChecks.text(properties.storeTimeout()),
					(waits > 1) ? " for its connection and again for its statements" : "",
					PropertyChecks.text(properties.lease()), times);
		}
	}

}
