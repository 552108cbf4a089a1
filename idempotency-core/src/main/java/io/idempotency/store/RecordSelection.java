package io.idempotency.store;

import io.idempotency.key.CallerId;
import org.jspecify.annotations.Nullable;

/**
 * The records that a walk through a store returns: those of an operation or those of a
 * caller.
 *
 * @param label the {@link io.idempotency.key.IdempotencyKey#label()} of the operation,
 * {@code null} for every operation
 * @param operation the operation alone, for a store that knows one namespace only;
 * {@code null} for every operation
 * @param caller the caller, {@code null} for every caller
 * @since 0.1.0
 */
public record RecordSelection(@Nullable String label, @Nullable String operation, @Nullable CallerId caller) {

	/**
	 * Selects the records of an operation.
	 * @param label the label of the operation
	 * @param operation the operation alone
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
