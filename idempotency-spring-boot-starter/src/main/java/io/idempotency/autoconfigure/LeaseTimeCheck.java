package io.idempotency.autoconfigure;

import java.time.Duration;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells of a lease and a retention that are hardly meant: if calls of the store take
 * long, a claim may not be renewed in time.
 */
final class LeaseTimeCheck {

	private static final Logger logger = LoggerFactory.getLogger(LeaseTimeCheck.class);

	private static final Duration SHORTEST_LEASE = Duration.ofSeconds(1);

	private static final Duration SHORTEST_RETENTION = Duration.ofMinutes(1);

	private LeaseTimeCheck() {
	}

	/** Logs a warning if a duration is so short that it is hardly meant. */
	public static void floor(IdempotencyProperties properties) {
		if (properties.lease().compareTo(SHORTEST_LEASE) < 0) {
			logger.warn(
					"'idempotency.lease' is {}: a pause of this JVM may be longer, and another call then runs beside work"
							+ " that goes on. Make it a second at least; a number without a unit is in seconds",
					PropertyChecks.text(properties.lease()));
		}
		if (properties.retention().compareTo(SHORTEST_RETENTION) < 0) {
			logger.warn(
					"'idempotency.retention' is {}: a retry that comes later runs again. Make it a minute at least, and"
							+ " longer than clients retry; a number without a unit is in seconds",
					PropertyChecks.text(properties.retention()));
		}
	}

	/**
	 * Logs a warning if a renewal may still be under way when the next one is due.
	 * @param waits how often a call may wait for the time-out: twice where it may wait
	 * for its connection and for its statement
	 */
	public static void compare(IdempotencyProperties properties, int waits) {
		int times = 3 * waits;
		if (properties.renewal() && properties.storeTimeout().multipliedBy(times).compareTo(properties.lease()) >= 0) {
			logger
				.warn("A call of the store may take 'idempotency.store-timeout' ({}){}, and a claim is renewed each third"
						+ " of 'idempotency.lease' ({}): a store that is slow may let the claims of running calls end. Make"
						+ " the lease longer than {} times the time-out",
						PropertyChecks.text(properties.storeTimeout()),
						(waits > 1) ? " for its connection and once more for its statements" : "",
						PropertyChecks.text(properties.lease()), times);
		}
	}

}
