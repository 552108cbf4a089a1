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

	/**
	 * The key of Micrometer's current observation. Micrometer is an optional dependency.
	 */
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

	/**
	 * Returns the context of the call whose work contains the subscriber, or
	 * {@code null}.
	 */
	static @Nullable IdempotencyContext of(ContextView caller) {
		return caller.getOrDefault(KEY, null);
	}

	/** Returns whether a subscriber is within the work of a guarded call. */
	static boolean isWithin(ContextView caller) {
		return caller.hasKey(KEY);
	}

	/** Returns a Reactor context that contains the context of a call. */
	static Context with(Context context, IdempotencyContext call) {
		return context.put(KEY, call);
	}

	/**
	 * Returns a Reactor context whose work belongs to the observation of a call, if the
	 * call is observed.
	 */
	static Context below(Context context, ObservedCall call) {
		Object observation = call.observation();
		return (observation != null) ? context.put(OBSERVATION, observation) : context;
	}

	/**
	 * Returns work whose context values Reactor binds to the thread at the subscription,
	 * if automatic context propagation is enabled. Reactor does that where a context is
	 * written.
	 */
	static <T> Mono<T> bound(Mono<T> work) {
		return work.contextWrite((context) -> context);
	}

	/**
	 * Returns the observation of a caller, {@code null} if the Reactor context has none.
	 */
	static @Nullable Object observation(ContextView caller) {
		return caller.getOrDefault(OBSERVATION, null);
	}

	/**
	 * Returns a Reactor context without a guarded call. Unguarded work must not change
	 * the outcome of a surrounding guarded call.
	 * @param context the context
	 * @return the context for unguarded work
	 * @hidden
	 */
	public static Context without(Context context) {
		return context.delete(KEY);
	}

}
