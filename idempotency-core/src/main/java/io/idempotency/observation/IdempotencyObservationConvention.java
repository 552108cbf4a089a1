package io.idempotency.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names the observations of guarded calls and their key values. A bean of this type takes
 * the place of the {@link DefaultIdempotencyObservationConvention}.
 * <p>
 * Is asked at the start and at the end of each call, on any thread, so it must be
 * thread-safe and quick. Its failure changes no answer.
 *
 * @since 0.1.0
 */
public interface IdempotencyObservationConvention extends ObservationConvention<IdempotencyObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof IdempotencyObservationContext;
	}

}
