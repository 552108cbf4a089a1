package io.idempotency.store;

import io.idempotency.key.CallerId;
import org.jspecify.annotations.Nullable;

/**
 * The selection of the records that a scan of a store returns: the records of an
 * operation or of a caller.
 *
 * @param label the {@link io.idempotency.key.IdempotencyKey#label()} of the operation,
 * {@code null} for every operation
 * @param operation the operation without the namespace, for a store with a single
 * namespace; {@code null} for every operation
 * @param caller the caller, {@code null} for every caller
 * @since 0.1.0
 */
public record RecordSelection(@Nullable String label, @Nullable String operation, @Nullable CallerId caller) {

	/**
	 * Selects the records of an operation.
	 * @param label the label of the operation
	 * @param operation the operation without the namespace
	 * @return the selection
	 */
	public static RecordSelection ofOperation(String label, String operation) {
		return new RecordSelection(label, operation, null);
	}

	/**
	 * Selects the records of a caller.
	 * @param caller the caller
	 * @return the selection
	 */
	public static RecordSelection ofCaller(CallerId caller) {
		return new RecordSelection(null, null, caller);
	}

}
