package io.idempotency.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.idempotency.reactor.ReactiveIdempotencyContext;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * Converts the result of a method to the {@code Mono} of the engine, and back. Spring
 * passes a {@code suspend} function to its interceptors as a publisher.
 *
 * @param form the form of the result
 * @param isVoid whether the method has no return value
 * @param adapter the adapter of the declared type, {@code null} for a publisher and for a
 * future
 */
record PublishedResult(ResultForm form, boolean isVoid, @Nullable ReactiveAdapter adapter) {

	static PublishedResult of(IdempotentOperation operation) {
		Method method = operation.guarded().method();
		ResultForm form = operation.result().form();
		boolean declares = form.isSubscribed() && !DeferredResultTypes.isSuspend(method);
		return new PublishedResult(form, operation.result().type() == Void.class,
				declares ? adapter(method.getReturnType()) : null);
	}

	private static @Nullable ReactiveAdapter adapter(Class<?> type) {
		return ReactiveAdapterRegistry.getSharedInstance().getAdapter(type);
	}

	/** Returns the work that the method returned. */
	Mono<Object> work(@Nullable Object returned) {
		if (returned == null) {
			return Mono
				.error(new IllegalStateException("The guarded method returned null instead of the declared type"));
		}
		return mono(returned);
	}

	/**
	 * Returns the result of a lookup. For a method without a return value, a result only
	 * means "done".
	 */
	Mono<Object> found(@Nullable Object returned) {
		return (returned != null) ? mono(returned) : Mono.empty();
	}

	/** Returns the result of an unguarded call, which is not collected for a record. */
	Mono<Object> unguarded(@Nullable Object returned) {
		Publisher<Object> publisher = (returned != null && this.form == ResultForm.FLUX) ? publisher(returned) : null;
		return (publisher != null) ? Mono.just(Flux.from(publisher).contextWrite(ReactiveIdempotencyContext::without))
				: work(returned);
	}

	@SuppressWarnings("unchecked")
	private Mono<Object> mono(Object returned) {
		if (returned instanceof CompletionStage<?> stage) {
			CompletableFuture<Object> future = (CompletableFuture<Object>) stage.toCompletableFuture();
			return Mono.fromFuture(future, true);
		}
		Publisher<Object> publisher = publisher(returned);
		if (publisher == null) {
			return Mono.just(returned);
		}
		return (this.form == ResultForm.FLUX) ? Flux.from(publisher).collectList().cast(Object.class)
				: Mono.from(publisher);
	}

	@SuppressWarnings("unchecked")
	private static @Nullable Publisher<Object> publisher(Object returned) {
		if (returned instanceof Publisher<?> publisher) {
			return (Publisher<Object>) publisher;
		}
		ReactiveAdapter known = adapter(returned.getClass());
		return (known != null) ? known.toPublisher(returned) : null;
	}

	/** Returns the result for the caller, in the declared type. */
	Object answer(Mono<Object> result) {
		Mono<Object> values = this.isVoid ? result.then(Mono.empty()) : result;
		if (this.form == ResultForm.FUTURE) {
			// The thread-bound values become the context, in place of that of a
			// subscriber.
			return values.contextCapture().toFuture();
		}
		Publisher<?> publisher = (this.form == ResultForm.FLUX) ? values.flatMapMany(
				(given) -> (given instanceof List<?> collected) ? Flux.fromIterable(collected) : (Publisher<?>) given)
				: values;
		return (this.adapter != null) ? this.adapter.fromPublisher(publisher) : publisher;
	}

}
