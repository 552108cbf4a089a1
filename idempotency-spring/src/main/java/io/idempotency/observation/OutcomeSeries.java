package io.idempotency.observation;

import io.idempotency.Internal;

/**
 * Lets the time series of an operation begin at zero, before its first call has ended.
 *
 * @hidden
 * @since 0.1.0
 */
@Internal
@FunctionalInterface
public interface OutcomeSeries {

	/** Nobody counts. */
	OutcomeSeries NONE = (call) -> {
	};

	/**
	 * Lets the time series of an operation begin, unless they have begun.
	 * @param call any call of the operation, without an outcome
	 */
	void begin(IdempotencyObservationContext call);

}
