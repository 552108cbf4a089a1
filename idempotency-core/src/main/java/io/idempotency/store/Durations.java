package io.idempotency.store;

import java.time.Duration;

/** Checks durations. */
final class Durations {

	private Durations() {
	}

	static void requirePositive(String name, Duration duration) {
		if (duration.isZero() || duration.isNegative()) {
			throw new IllegalArgumentException(name + " must be positive, not " + duration);
		}
	}

}
