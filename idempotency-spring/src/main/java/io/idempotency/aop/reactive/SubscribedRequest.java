package io.idempotency.aop.reactive;

import java.util.function.Supplier;

import io.idempotency.Internal;
import io.idempotency.aop.RequestValues;
import io.idempotency.key.Caller;
import io.idempotency.reactor.OnDisconnect;

/**
 * What a subscription works for.
 *
 * @param values the values that expressions read
 * @param caller who owns tokens and the keys that clients choose; is asked only if there
 * is such a key
 * @param onDisconnect what becomes of the work when the subscription is cancelled
 * @hidden
 * @since 0.1.0
 */
@Internal
public record SubscribedRequest(RequestValues values, Supplier<Caller> caller, OnDisconnect onDisconnect) {

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
		return new SubscribedRequest(this.values, known, this.onDisconnect);
	}

}
