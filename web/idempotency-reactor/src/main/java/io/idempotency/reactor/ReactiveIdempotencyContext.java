package io.idempotency.reactor;

import io.idempotency.IdempotencyContext;
import io.idempotency.engine.EngineObserver.ObservedCall;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Finds the {@link IdempotencyContext} of a guarded call in the Reactor context of its
 * work.
 *
 * @since 0.1.0
 */
public final class ReactiveIdempotencyContext {

	private static final Class<IdempotencyContext> KEY = IdempotencyContext.class;

	/** Micrometer's key for the current observation; its class may not be there. */
	private static final String OBSERVATION = "micrometer.observation";

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

	/** Returns the context of the call whose work a subscriber is, or {@code null}. */
	static @Nullable IdempotencyContext of(ContextView caller) {
		return caller.getOrDefault(KEY, null);
	}

	/** Returns whether a subscriber is the work of a guarded call, or a part of it. */
	static boolean isWithin(ContextView caller) {
		return caller.hasKey(KEY);
	}

	/** Returns a context with the one of a call. */
	static Context with(Context context, IdempotencyContext call) {
		return context.put(KEY, call);
	}

	/**
	 * Returns a context whose work is below the observation of a call, if anybody looks.
	 */
	static Context below(Context context, ObservedCall call) {
		Object observation = call.observation();
		return (observation != null) ? context.put(OBSERVATION, observation) : context;
	}

	/**
	 * Returns work at whose subscription Reactor binds to the thread what its context
	 * says, if automatic context propagation is enabled: that is done where a context is
	 * written.
	 */
	static <T> Mono<T> bound(Mono<T> work) {
		return work.contextWrite((context) -> context);
	}

	/** Returns what a caller is observed as, {@code null} if the context does not say. */
	static @Nullable Object observation(ContextView caller) {
		return caller.getOrDefault(OBSERVATION, null);
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
