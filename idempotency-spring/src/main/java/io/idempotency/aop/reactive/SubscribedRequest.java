package io.idempotency.aop.reactive;

import java.util.function.Supplier;

import io.idempotency.Internal;
import io.idempotency.aop.RequestValues;
import io.idempotency.key.Caller;

/**
 * What a subscription works for.
 *
 * @param values the values that expressions read
 * @param caller who owns tokens and the keys that clients choose; is asked only if there
 * is such a key
 * @hidden
 */
@Internal
public record SubscribedRequest(RequestValues values, Supplier<Caller> caller) {

	/** Returns the same with the caller that the current thread knows now. */
	SubscribedRequest captured() {
		Supplier<Caller> known;
		try {
			Caller caller = this.caller.get();
			known = () -> caller;
		}
		catch (RuntimeException refused) {
			known = () -> {
				throw refused;
			};
		}
		return new SubscribedRequest(this.values, known);
	}

}
