package io.idempotency.observation;

import io.idempotency.Internal;
import io.idempotency.store.ClaimOrigin;
import io.micrometer.observation.Observation;

/**
 * Links the trace of a replay to the run that has made its result. Thread-safe.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
@FunctionalInterface
public interface RunLink {

	/** Calls are not traced. */
	RunLink NONE = (first, replay) -> {
	};

	/**
	 * Links a replay.
	 * @param first where the claim of the run came from
	 * @param replay the observation of the replay
	 */
	void to(ClaimOrigin first, Observation.Context replay);

}
