package io.idempotency.aop.reactive;

import java.util.function.Function;

import io.idempotency.Internal;
import io.idempotency.aop.RequestValues;
import io.idempotency.key.Caller;

/**
 * What a subscription works for.
 *
 * @param values the values that expressions read
 * @param owner returns who owns tokens and the keys that clients choose for the operation
 * of a name; is asked only if there is such a key
 * @hidden
 */
@Internal
public record SubscribedRequest(RequestValues values, Function<String, Caller> owner) {

	/** Returns the same with the owner that the current thread knows now. */
	SubscribedRequest captured(String operation) {
		Function<String, Caller> known;
		try {
			Caller owner = this.owner.apply(operation);
			known = (any) -> owner;
		}
		catch (RuntimeException refused) {
			known = (any) -> {
				throw refused;
			};
		}
		return new SubscribedRequest(this.values, known);
	}

}
