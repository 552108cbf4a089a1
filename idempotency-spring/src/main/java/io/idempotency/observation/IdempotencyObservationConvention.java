package io.idempotency.observation;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;

/**
 * Names the observations of guarded calls and their key values. A bean of this type
 * replaces the {@link DefaultIdempotencyObservationConvention}.
 * <p>
 * The library calls the convention at the start and at the end of each call, on any
 * thread, so the convention must be thread-safe and fast. If it fails, the result of the
 * call does not change.
 *
 * @since 0.1.0
 */
public interface IdempotencyObservationConvention extends ObservationConvention<IdempotencyObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof IdempotencyObservationContext;
	}

}
