package io.idempotency.observation;

import java.util.Locale;

import io.idempotency.IdempotencyOutcome;
import io.idempotency.observation.IdempotencyObservation.CallKeyName;
import io.idempotency.observation.IdempotencyObservation.RunKeyName;
import io.idempotency.store.ClaimOrigin;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;

/**
 * The usual {@link IdempotencyObservationConvention}: the name {@code idempotency}, and
 * the key values operation, mode, store and outcome. If the first call was traced, a
 * replay has the id of that trace and the name of its node as key values of high
 * cardinality. Thread-safe. Subclasses may add key values.
 *
 * @since 0.1.0
 */
public class DefaultIdempotencyObservationConvention implements IdempotencyObservationConvention {

	private static final KeyValue RUNNING = CallKeyName.OUTCOME.withValue("unknown");

	/**
	 * Creates the convention.
	 */
	public DefaultIdempotencyObservationConvention() {
	}

	@Override
	public String getName() {
		return "idempotency";
	}

	@Override
	public String getContextualName(IdempotencyObservationContext context) {
		return "idempotency " + context.operation();
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(IdempotencyObservationContext context) {
		IdempotencyOutcome outcome = context.outcome();
		return KeyValues.of(CallKeyName.OPERATION.withValue(context.operation()),
				CallKeyName.MODE.withValue(context.mode().name().toLowerCase(Locale.ROOT)),
				CallKeyName.STORE.withValue(context.store()),
				(outcome != null) ? CallKeyName.OUTCOME.withValue(outcome.value()) : RUNNING);
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(IdempotencyObservationContext context) {
		ClaimOrigin first = context.first();
		if (first == null || first.traceId() == null) {
			return KeyValues.empty();
		}
		return KeyValues.of(RunKeyName.TRACE_ID.withValue(first.traceId()), RunKeyName.NODE.withValue(first.node()));
	}

}
