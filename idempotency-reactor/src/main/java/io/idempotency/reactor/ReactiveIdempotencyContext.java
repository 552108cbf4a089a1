package io.idempotency.reactor;

import io.idempotency.IdempotencyContext;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;

/**
 * Finds the {@link IdempotencyContext} of a guarded call in the Reactor context of its
 * work.
 *
 * @since 0.1.0
 */
public final class ReactiveIdempotencyContext {

	private static final Class<IdempotencyContext> KEY = IdempotencyContext.class;

	private ReactiveIdempotencyContext() {
	}

	/**
	 * Returns the context of the guarded call in whose work this {@code Mono} is
	 * subscribed.
	 * @return the context, empty outside a guarded call
	 */
	public static Mono<IdempotencyContext> get() {
		return Mono.deferContextual((context) -> Mono.justOrEmpty(context.<IdempotencyContext>getOrEmpty(KEY)));
	}

	/** Returns a context with the one of a call. */
	static Context with(Context context, IdempotencyContext call) {
		return context.put(KEY, call);
	}

	/**
	 * Returns a context without that of any call: unguarded work must not change the
	 * outcome of a guarded call around it.
	 * @param context the context
	 * @return the context for unguarded work
	 * @hidden
	 */
	public static Context without(Context context) {
		return context.delete(KEY);
	}

}
