package io.idempotency.observation;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOutcome;
import io.idempotency.observation.IdempotencyObservation.CallKeyName;
import io.idempotency.observation.IdempotencyObservation.RunKeyName;
import io.idempotency.store.ClaimOrigin;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import org.jspecify.annotations.Nullable;

/**
 * The default {@link IdempotencyObservationConvention}: the name {@code idempotency}, and
 * the key values operation, mode, store and outcome. If the first call was traced, a
 * replay has the trace id and the node name of the first call as high-cardinality key
 * values. Thread-safe. Subclasses may add key values.
 *
 * @since 0.1.0
 */
public class DefaultIdempotencyObservationConvention implements IdempotencyObservationConvention {

	private static final KeyValue RUNNING = CallKeyName.OUTCOME.withValue("unknown");

	/** One entry for each meter, because each call needs two of them. */
	private final Map<Series, KeyValues> known = new ConcurrentHashMap<>();

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
		return this.known.computeIfAbsent(
				new Series(context.operation(), context.mode(), context.store(), context.outcome()), Series::keyValues);
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(IdempotencyObservationContext context) {
		ClaimOrigin first = context.first();
		if (first == null || first.traceId() == null) {
			return KeyValues.empty();
		}
		return KeyValues.of(RunKeyName.TRACE_ID.withValue(first.traceId()), RunKeyName.NODE.withValue(first.node()));
	}

	/** The values from which the low-cardinality key values are created. */
	private record Series(String operation, IdempotencyMode mode, String store, @Nullable IdempotencyOutcome outcome) {

		KeyValues keyValues() {
			return KeyValues.of(CallKeyName.OPERATION.withValue(this.operation),
					CallKeyName.MODE.withValue(this.mode.name().toLowerCase(Locale.ROOT)),
					CallKeyName.STORE.withValue(this.store),
					(this.outcome != null) ? CallKeyName.OUTCOME.withValue(this.outcome.value()) : RUNNING);
		}

	}

}
