package io.idempotency.autoconfigure.actuate;

import io.idempotency.IdempotencyEviction;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The endpoint's description of the outcome of a removal.
 *
 * @param evicted how many records were removed
 * @param running how many records were left because live calls hold them
 * @param advice a hint for the operator; absent if there is none
 * @since 0.1.0
 */
public record EvictionDescriptor(long evicted, long running, @Nullable String advice) implements OperationResponseBody {

	static EvictionDescriptor of(IdempotencyEviction eviction) {
		return new EvictionDescriptor(eviction.evicted(), eviction.running(), advice(eviction));
	}

	private static @Nullable String advice(IdempotencyEviction eviction) {
		return (eviction.running() > 0)
				? "A live call holds what was left: without its record, a duplicate would run beside it. "
						+ "Wait until it has ended, or repeat with force=true."
				: null;
	}

}
